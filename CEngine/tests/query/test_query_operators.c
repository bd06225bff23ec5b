/*
 * test_query_operators.c -- the operators beyond comparisons: what each means, what it refuses, and
 * that an index changes no answer of it; paths "*" and "**", collations.
 */
#include "support/calls/query_calls.h"
#include "support/check.h"
#include "support/libraries.h"

#include <string.h>

static tansu_db *db;

#define IDS(expected, query) CHECK_TEXT(expected, find_ids(db, query, NULL))
#define HINTED(expected, query, hint) CHECK_TEXT(expected, find_ids(db, query, hint))

#define WITH(...) (db = memory_db_with((const char *const[]){__VA_ARGS__, NULL}))

static void bt_takes_both_ends_in_either_order(void) {
    WITH("{'_id':1,'a':1}", "{'_id':2,'a':2.5}", "{'_id':3,'a':4}", "{'_id':4,'a':[0,9]}",
         "{'_id':5,'a':'2'}", "{'_id':6,'a':[7,3]}");
    for (int indexed = 0; indexed < 2; indexed++) {
        IDS("1 2 3 6", "{'a':{'$bt':[1,4]}}");
        IDS("1 2 3 6", "{'a':{'$between':[4,1]}}");
        IDS("5", "{'a':{'$bt':['1','3']}}");
        IDS("4 5", "{'a':{'$not':{'$bt':[1,4]}}}");
        if (!indexed)
            create_index(db, "a", "{'a':1}", NULL);
    }
    CHECK_TEXT("4", plan_field(db, "{'a':{'$bt':[1,4]}}", "{'$index':'a'}", "keysExamined"));
    IDS("INVALID_QUERY a.$bt", "{'a':{'$bt':[1]}}");
    IDS("INVALID_QUERY a.$bt", "{'a':{'$bt':5}}");
    IDS("INVALID_QUERY a.$between", "{'a':{'$between':[1,'x']}}");
    IDS("INVALID_QUERY a.$bt", "{'a':{'$bt':[1,2,3]}}");
    memory_db_close(db);
}

static void ends_and_parts_of_strings(void) {
    WITH("{'_id':1,'a':'abcabd'}", "{'_id':2,'a':'abd'}", "{'_id':3,'a':['x','bd']}",
         "{'_id':4,'a':5}", "{'_id':5}", "{'_id':6,'a':''}");
    IDS("1 2 3", "{'a':{'$endsWith':'bd'}}");
    IDS("1 2 3", "{'a':{'$endsWith':['q','bd']}}");
    IDS("1 2 3 6", "{'a':{'$endsWith':''}}");
    IDS("1 2", "{'a':{'$contains':'abd'}}");
    IDS("1", "{'a':{'$contains':['zz','cab']}}");
    IDS("3 4 5 6", "{'a':{'$not':{'$contains':'a'}}}");
    IDS("INVALID_QUERY a.$endsWith", "{'a':{'$endsWith':5}}");
    IDS("INVALID_QUERY a.$contains", "{'a':{'$contains':[]}}");
    IDS("INVALID_QUERY a.$contains", "{'a':{'$contains':['x',1]}}");
    memory_db_close(db);
}

static void tokens(void) {
    WITH("{'_id':1,'a':'red, green\\tblue'}", "{'_id':2,'a':'greenish'}",
         "{'_id':3,'a':['red','blue']}", "{'_id':4,'a':'BLUE red'}");
    IDS("1 3", "{'a':{'$strand':['red','blue']}}");
    IDS("1 3", "{'a':{'$strand':'blue,red'}}");
    IDS("1 3 4", "{'a':{'$stror':['red','zz']}}");
    IDS("1", "{'a':{'$stror':'green'}}");
    IDS("1 3 4", "{'a':{'$icase':{'$strand':'Red Blue'}}}");
    IDS("2 4", "{'a':{'$not':{'$strand':['red','blue']}}}");
    IDS("INVALID_QUERY a.$strand", "{'a':{'$strand':' , '}}");
    IDS("INVALID_QUERY a.$stror", "{'a':{'$stror':7}}");
    memory_db_close(db);
}

static void regular_expressions(void) {
    WITH("{'_id':1,'a':'apple'}", "{'_id':2,'a':'Apricot'}", "{'_id':3,'a':['b','banana']}",
         "{'_id':4,'a':5}", "{'_id':5,'a':'one\\ntwo'}", "{'_id':6,'a':'\\u00e4pfel'}",
         "{'_id':7,'a':'appease'}");
    for (int indexed = 0; indexed < 2; indexed++) {
        IDS("1 7", "{'a':{'$REGEX':'^ap'}}");
        IDS("1", "{'a':{'$REGEX':'^appl?e$'}}");
        IDS("1 2 7", "{'a':{'$REGEX':'^ap','$options':'i'}}");
        IDS("3", "{'a':{'$REGEX':'(an)+a$'}}");
        IDS("5", "{'a':{'$REGEX':'^two$','$options':'m'}}");
        IDS("6", "{'a':{'$REGEX':'^.pfel$'}}");
        IDS("6", "{'a':{'$REGEX':'^\\u00c4P','$options':'i'}}");
        IDS("1 7", "{'a':{'$regularExpression':{'pattern':'^ap','options':''}}}");
        IDS("1 4 7", "{'a':{'$in':[5,{'$regularExpression':{'pattern':'^app','options':''}}]}}");
        IDS("2 3 5 6", "{'a':{'$nin':[5,{'$regularExpression':{'pattern':'^app','options':''}}]}}");
        IDS("2 3 4 5 6", "{'a':{'$not':{'$regularExpression':{'pattern':'^a','options':''}}}}");
        IDS("7", "{'a':{'$REGEX':'^app','$ne':'apple'}}");
        IDS("1 2 7", "{'a':{'$icase':{'$REGEX':'^ap'}}}");
        if (!indexed)
            create_index(db, "a", "{'a':1}", NULL);
    }
#define EXAMINED(expected, query) \
    CHECK_TEXT(expected, plan_field(db, query, "{'$index':'a'}", "documentsExamined"))
    EXAMINED("2", "{'a':{'$REGEX':'^app.*x'}}");
    EXAMINED("1", "{'a':{'$REGEX':'^appl+'}}");
    EXAMINED("2", "{'a':{'$REGEX':'^appl*'}}");
    EXAMINED("7", "{'a':{'$REGEX':'^a|^b'}}");
    EXAMINED("7", "{'a':{'$REGEX':'^ap','$options':'i'}}");
    EXAMINED("7", "{'a':{'$not':{'$REGEX':'^ap'}}}");
    IDS("INVALID_QUERY a.$regex", "{'a':{'$REGEX':'('}}");
    IDS("INVALID_QUERY a.$regex", "{'a':{'$REGEX':5}}");
    IDS("INVALID_QUERY a.$options", "{'a':{'$REGEX':'a','$options':'q'}}");
    IDS("INVALID_QUERY a.$options", "{'a':{'$ne':1,'$options':'i'}}");
    IDS("INVALID_QUERY a.$options", "{'a':{'$REGEX':'a','$options':1}}");
    IDS("INVALID_QUERY a.$in",
        "{'a':{'$in':[{'$regularExpression':{'pattern':'*','options':''}}]}}");
    memory_db_close(db);
}

static void a_hostile_pattern_ends_in_an_error(void) {
    WITH("{'_id':1,'a':{'b':'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!'}}");
    IDS("INVALID_QUERY a.b.$regex", "{'a':{'b':{'$REGEX':'^(a+)+$'}}}");
    IDS("INVALID_QUERY a.b.$not.$regex", "{'a.b':{'$not':{'$REGEX':'^(a|a)*$'}}}");
    IDS("INVALID_QUERY $or.1.a.b.$regex", "{'$or':[{'x':1},{'a.b':{'$REGEX':'^(a+)+$'}}]}");
    HINTED("INVALID_QUERY a.b.$regex", "{'a.b':{'$REGEX':'^(a+)+$'}}", "{'$onlycount':true}");
    HINTED("INVALID_QUERY a.b.$regex", "{'a.b':{'$REGEX':'^(a+)+$'}}", "{'$orderby':{'a':1}}");
    memory_db_close(db);
}

static void icase_folds_all_of_unicode(void) {
    WITH("{'_id':1,'a':'Stra\\u00dfe'}", "{'_id':2,'a':'STRASSE'}", "{'_id':3,'a':['x','strasse']}",
         "{'_id':4,'a':'strassen'}", "{'_id':5,'a':1}", "{'_id':6,'a':'\\u03a3'}",
         "{'_id':7,'a':'\\u03c2'}");
    IDS("1 2 3", "{'a':{'$icase':'strasse'}}");
    IDS("1 2 3 4", "{'a':{'$icase':{'$begin':'STRASS'}}}");
    IDS("1 2 3", "{'a':{'$icase':{'$endsWith':'SSE'}}}");
    IDS("4", "{'a':{'$icase':{'$contains':'SEN'}}}");
    IDS("4 6 7", "{'a':{'$icase':{'$in':['\\u03c3','STRASSEN']}}}");
    IDS("4 5 6 7", "{'a':{'$icase':{'$ne':'strasse'}}}");
    IDS("3 4 6 7", "{'a':{'$icase':{'$gt':'STRASSE'}}}");
    IDS("1 2 3 4", "{'a':{'$icase':{'$bt':['STR','STRASSEN']}}}");
    IDS("INVALID_QUERY a.$icase", "{'a':{'$icase':5}}");
    IDS("INVALID_QUERY a.$icase", "{'a':{'$icase':{}}}");
    IDS("INVALID_QUERY a.$icase", "{'a':{'$icase':{'$size':1}}}");
    IDS("INVALID_QUERY a.$gt", "{'a':{'$icase':{'$gt':5}}}");
    IDS("INVALID_QUERY a.$in", "{'a':{'$icase':{'$in':['a',5]}}}");
    memory_db_close(db);
}

static void arrays_as_wholes(void) {
    WITH("{'_id':1,'a':[1,2,3]}", "{'_id':2,'a':[2]}", "{'_id':3,'a':2}", "{'_id':4,'a':[]}",
         "{'_id':5,'a':[[1,2],4]}", "{'_id':6,'a':[{'b':1,'c':9},{'b':2,'c':1}]}", "{'_id':7}");
    for (int indexed = 0; indexed < 2; indexed++) {
        IDS("1 2 3", "{'a':{'$all':[2]}}");
        IDS("1", "{'a':{'$all':[1,2]}}");
        IDS("5", "{'a':{'$all':[[1,2]]}}");
        IDS("", "{'a':{'$all':[]}}");
        IDS("1 2 3 4 5 6 7", "{'a':{'$not':{'$all':[]}}}");
        IDS("6", "{'a':{'$all':[{'$elemMatch':{'b':1}},{'$elemMatch':{'c':1}}]}}");
        IDS("4", "{'a':{'$size':0}}");
        IDS("5 6", "{'a':{'$size':2}}");
        IDS("1 2 3 4 7", "{'a':{'$not':{'$size':2}}}");
        IDS("1 2", "{'a':{'$elemMatch':{'$gte':2,'$lt':3}}}");
        IDS("1 5", "{'a':{'$elemMatch':{'$gt':2,'$lt':9}}}");
        IDS("6", "{'a':{'$elemMatch':{'b':2,'c':1}}}");
        IDS("", "{'a':{'$elemMatch':{'b':1,'c':1}}}");
        IDS("6", "{'a':{'$elemMatch':{'$or':[{'b':7},{'c':9}]}}}");
        IDS("5", "{'a':{'$elemMatch':{'$elemMatch':{'$eq':1}}}}");
        IDS("1 5", "{'a':{'$elemMatch':{'$or':[{'$eq':3},{'$TYPE':'array'}]}}}");
        IDS("2 3 4 6 7", "{'a':{'$not':{'$elemMatch':{'$or':[{'$eq':3},{'$TYPE':'array'}]}}}}");
        IDS("1 2", "{'a':{'$allMatch':{'$lt':4}}}");
        IDS("6", "{'a':{'$allMatch':{'b':{'$lte':2}}}}");
        IDS("3 4 5 6 7", "{'a':{'$not':{'$allMatch':{'$lt':4}}}}");
        if (!indexed)
            create_index(db, "a", "{'a':1}", NULL);
    }
    EXAMINED("1", "{'a':{'$all':[1,2]}}");
    EXAMINED("3", "{'a':{'$elemMatch':{'$gte':2,'$lt':3}}}");
    EXAMINED("2", "{'a':{'$allMatch':{'$bt':[3,4]}}}");
    IDS("INVALID_QUERY a.$all", "{'a':{'$all':5}}");
    IDS("INVALID_QUERY a.$all", "{'a':{'$all':[{'$gt':5}]}}");
    IDS("INVALID_QUERY a.$size", "{'a':{'$size':-1}}");
    IDS("INVALID_QUERY a.$size", "{'a':{'$size':1.5}}");
    IDS("INVALID_QUERY a.$size", "{'a':{'$size':'1'}}");
    IDS("INVALID_QUERY a.$elemMatch", "{'a':{'$elemMatch':5}}");
    IDS("INVALID_QUERY a.$elemMatch.$nope", "{'a':{'$elemMatch':{'$nope':5}}}");
    IDS("INVALID_QUERY a.$elemMatch.b.$size", "{'a':{'$elemMatch':{'b':{'$size':'x'}}}}");
    IDS("INVALID_QUERY a.$elemMatch", "{'a':{'$elemMatch':{'$gt':5,'b':1}}}");
    IDS("INVALID_QUERY a.$allMatch", "{'a':{'$allMatch':[1]}}");
    memory_db_close(db);
}

static void types_and_remainders(void) {
    WITH("{'_id':1,'a':1}", "{'_id':2,'a':{'$numberLong':'-7'}}", "{'_id':3,'a':2.5}",
         "{'_id':4,'a':{'$numberDecimal':'8'}}", "{'_id':5,'a':'x'}", "{'_id':6,'a':null}",
         "{'_id':7,'a':[true,'y']}", "{'_id':8,'a':{'b':1}}", "{'_id':9}",
         "{'_id':10,'a':{'$numberDouble':'Infinity'}}");
    IDS("1 2 3 4 10", "{'a':{'$TYPE':'number'}}");
    IDS("1", "{'a':{'$TYPE':'int'}}");
    IDS("2", "{'a':{'$TYPE':18}}");
    IDS("4", "{'a':{'$TYPE':'decimal'}}");
    IDS("5 7", "{'a':{'$TYPE':'string'}}");
    IDS("7", "{'a':{'$TYPE':'array'}}");
    IDS("7", "{'a':{'$TYPE':'bool'}}");
    IDS("6 8", "{'a':{'$TYPE':['null','object']}}");
    IDS("6", "{'a':{'$TYPE':'null'}}");
    IDS("1 2 3 4 6 8 9 10", "{'a':{'$not':{'$TYPE':2}}}");
    IDS("4", "{'a':{'$mod':[4,0]}}");
    IDS("2", "{'a':{'$mod':[4,-3]}}");
    IDS("1", "{'a':{'$mod':[-4,1.0]}}");
    IDS("1 2 3 4", "{'a':{'$mod':[-1,0]}}");
    IDS("INVALID_QUERY a.$type", "{'a':{'$TYPE':'strange'}}");
    IDS("INVALID_QUERY a.$type", "{'a':{'$TYPE':0}}");
    IDS("INVALID_QUERY a.$type", "{'a':{'$TYPE':[]}}");
    IDS("INVALID_QUERY a.$type", "{'a':{'$TYPE':true}}");
    IDS("INVALID_QUERY a.$mod", "{'a':{'$mod':[0,1]}}");
    IDS("INVALID_QUERY a.$mod", "{'a':{'$mod':[2]}}");
    IDS("1", "{'a':{'$mod':[2.5,1]}}");
    IDS("INVALID_QUERY a.$mod", "{'a':{'$mod':[0.5,1]}}");
    IDS("INVALID_QUERY a.$mod", "{'a':{'$mod':[{'$numberDouble':'NaN'},1]}}");
    IDS("INVALID_QUERY a.$mod", "{'a':{'$mod':5}}");
    memory_db_close(db);
}

static void keys_of_maps(void) {
    WITH("{'_id':1,'m':{'de':1,'en':2}}", "{'_id':2,'m':{'fr':1}}", "{'_id':3,'m':'de'}",
         "{'_id':4,'m':[{'x':1},{'de-AT':1}]}", "{'_id':5}");
    IDS("1", "{'m':{'$keyMapMatch':{'$eq':'de'}}}");
    IDS("1 4", "{'m':{'$keyMapMatch':{'$begin':'de'}}}");
    IDS("1 2", "{'m':{'$keyMapMatch':{'$in':['fr','en']}}}");
    IDS("4", "{'m':{'$keyMapMatch':{'$icase':{'$endsWith':'at'}}}}");
    IDS("2 3 5", "{'m':{'$not':{'$keyMapMatch':{'$begin':'de'}}}}");
    IDS("INVALID_QUERY m.$keyMapMatch", "{'m':{'$keyMapMatch':'de'}}");
    IDS("INVALID_QUERY m.$keyMapMatch", "{'m':{'$keyMapMatch':{'de':1}}}");
    memory_db_close(db);
}

/* "**.name": the fields of a name, which elements of arrays are not. */
static void any_field_of_a_name(void) {
    WITH("{'_id':1,'z':'cat','b':2}", "{'_id':2,'x':{'y':['dog',{'z':'cat'}]}}",
         "{'_id':3,'z':{'z':['cat',null]},'0':5}", "{'_id':4,'x':[[{'z':'Cat','a.b':[7,9]}]]}",
         "{'_id':5,'x':{'_id':1,'*':3},'z':[['cat']]}");
    IDS("1 2 3", "{'**.z':'cat'}");
    IDS("1 2 3 4", "{'**.z':{'$icase':'CAT'}}");
    IDS("4 5", "{'**.z':{'$ne':'cat'}}");
    IDS("3", "{'**.z':null}");
    IDS("5", "{'$nor':[{'**.z':{'$icase':{'$begin':'c'}}}]}");
    IDS("3", "{'**.0':5}");
    IDS("3", "{'**.0':{'$exists':true}}");
    IDS("4", "{'**.a\\\\.b':{'$gt':8}}");
    IDS("4", "{'**.a\\\\.b':[7,9]}");
    IDS("5", "{'**.\\\\*':3}");
    IDS("1 5", "{'**._id':1}");
    IDS("4", "{'**.a\\\\.b':{'$size':2}}");
    IDS("2", "{'x':{'y':{'$elemMatch':{'**.z':'cat'}}}}");
    IDS("1 2 3", "{'**.z':{'$in':['cat','x']},'_id':{'$lt':9}}");
    IDS("INVALID_QUERY **.*", "{'**.*':1}");
    IDS("INVALID_QUERY **.", "{'**.':1}");
    IDS("INVALID_QUERY **.a.b", "{'**.a.b':1}");
    IDS("INVALID_QUERY **.z.$nope", "{'**.z':{'$nope':1}}");
    memory_db_close(db);
}

static void any_field(void) {
    WITH("{'_id':1,'a':'cat','b':2}", "{'_id':2,'x':{'y':['dog',{'z':'cat'}]}}",
         "{'_id':3,'t':['cat']}", "{'_id':4,'n':null}", "{'_id':5,'u':[[['cat']]]}");
    IDS("1 3", "{'*':'cat'}");
    IDS("1 2 3 5", "{'**':'cat'}");
    IDS("2 4 5", "{'*':{'$ne':'cat'}}");
    IDS("4", "{'**':{'$not':{'$begin':'c'}}}");
    IDS("1 2", "{'**':2}");
    IDS("4", "{'*':null}");
    IDS("3 5", "{'*':{'$size':1}}");
    IDS("2 3 5", "{'**':{'$TYPE':'array'}}");
    IDS("1", "{'*':'cat','b':2}");
    IDS("1 3 4", "{'$or':[{'*':'cat'},{'n':{'$exists':true}}]}");
    IDS("2", "{'x':{'y':{'$elemMatch':{'*':'cat'}}}}");
    IDS("INVALID_QUERY *.a", "{'*':{'a':1}}");
    IDS("INVALID_QUERY **.a.b", "{'**.a':{'b':1}}");
    IDS("INVALID_QUERY **.$nope", "{'**':{'$nope':1}}");
    memory_db_close(db);
}

static void collations(void) {
    WITH("{'_id':1,'a':'b10'}", "{'_id':2,'a':'B9'}", "{'_id':3,'a':'a'}",
         "{'_id':4,'a':['A','c']}", "{'_id':5,'a':7}", "{'_id':6,'a':{'k':'X'}}",
         "{'_id':7,'a':'b010'}");
    for (int indexed = 0; indexed < 3; indexed++) {
        HINTED("3 4", "{'a':'A'}", "{'$collation':'caseInsensitive'}");
        HINTED("4", "{'a':'A'}", "{'$collation':'binary'}");
        HINTED("6", "{'a':{'$eq':{'k':'x'}}}", "{'$collation':{'caseInsensitive':true}}");
        HINTED("3 4 5", "{'a':{'$in':['A',7,'q']}}", "{'$collation':'caseInsensitive'}");
        HINTED("1 7", "{'a':'b10'}", "{'$collation':'numeric'}");
        HINTED("1 2 4 7", "{'a':{'$gt':'B5'}}",
               "{'$collation':{'caseInsensitive':true,'numeric':true}}");
        HINTED("5 3 4 2 1 7 6", "{}",
               "{'$orderby':{'a':1},'$collation':{'caseInsensitive':true,'numeric':true}}");
        HINTED("6 4 2 1 7 3 5", "{}",
               "{'$orderby':{'a':-1},'$collation':{'caseInsensitive':true}}");
        HINTED("5 4 2 3 7 1 6", "{}", "{'$orderby':{'a':1}}");
        HINTED("6 4", "{}", "{'$orderby':{'a':-1},'$collation':'caseInsensitive','$max':2}");
        if (indexed == 0)
            create_index(db, "a", "{'a':1}", NULL);
        if (indexed == 1)
            create_index(db, "folded", "{'a':1}", "{'caseInsensitive':true}");
    }
    HINTED("INVALID_QUERY hints.$collation", "{}", "{'$collation':'german'}");
    HINTED("INVALID_QUERY hints.$collation", "{}", "{'$collation':{'locale':'de'}}");
    HINTED("INVALID_QUERY hints.$collation", "{}", "{'$collation':5}");
    HINTED("INVALID_QUERY hints.$maxTimeMS", "{}", "{'$maxTimeMS':-5}");
    HINTED("INVALID_QUERY hints.$maxTimeMS", "{}", "{'$maxTimeMS':'x'}");
    memory_db_close(db);
}

static void bits_of_numbers_and_bytes(void) {
    db = memory_db_with((const char *const[]){
        "{'_id':1,'a':5}", "{'_id':2,'a':{'$numberLong':'-1'}}", "{'_id':3,'a':[2,'x']}",
        "{'_id':4,'a':{'$binary':{'base64':'BQE=','subType':'00'}}}", "{'_id':5,'a':5.5}",
        "{'_id':6,'a':{'$numberDecimal':'4.0'}}", "{'_id':7}", "{'_id':8,'a':null}", NULL});
    IDS("1 2 4", "{'a':{'$bitsAllSet':5}}");
    IDS("1 2 4", "{'a':{'$bitsAllSet':[0,2]}}");
    IDS("1 2 4 6", "{'a':{'$bitsAnySet':{'$binary':{'base64':'BAA=','subType':'00'}}}}");
    IDS("3 6", "{'a':{'$bitsAllClear':1}}");
    IDS("1 3 4 6", "{'a':{'$bitsAnyClear':[1,2]}}");
    IDS("2 4", "{'a':{'$bitsAllSet':[8]}}");
    IDS("2", "{'a':{'$bitsAllSet':[0,1000000]}}");
    IDS("1 3 4 6", "{'a':{'$bitsAllClear':[1000000]}}");
    IDS("1 2 3 4 6", "{'a':{'$bitsAllSet':[]}}");
    IDS("", "{'a':{'$bitsAnySet':0}}");
    IDS("3 5 6 7 8", "{'a':{'$not':{'$bitsAllSet':5}}}");
    IDS("INVALID_QUERY a.$bitsAnySet", "{'a':{'$bitsAnySet':1.5}}");
    IDS("INVALID_QUERY a.$bitsAnySet", "{'a':{'$bitsAnySet':[2147483648]}}");
    memory_db_close(db);
}

static void a_regular_expression_selects_its_equal(void) {
    db = memory_db_with((const char *const[]){
        "{'_id':1,'a':'axe'}",
        "{'_id':2,'a':{'$regularExpression':{'pattern':'^a','options':'im'}}}",
        "{'_id':3,'a':[1,{'$regularExpression':{'pattern':'^a','options':''}}]}",
        "{'_id':4,'a':'b'}", NULL});
    for (int indexed = 0; indexed < 2; indexed++) {
        IDS("1 3", "{'a':{'$regularExpression':{'pattern':'^a','options':''}}}");
        IDS("1 3", "{'a':{'$REGEX':'^a'}}");
        IDS("1 2", "{'a':{'$REGEX':'^a','$options':'mi'}}");
        IDS("1 3 4", "{'a':{'$in':['b',{'$regularExpression':{'pattern':'^a','options':''}}]}}");
        IDS("2 4", "{'a':{'$not':{'$regularExpression':{'pattern':'^a','options':''}}}}");
        IDS("2", "{'a':{'$eq':{'$regularExpression':{'pattern':'^a','options':'im'}}}}");
        create_index(db, "a", "{'a':1}", NULL);
    }
    memory_db_close(db);
}

static void the_empty_key_can_be_asked_for(void) {
    db = memory_db_with((const char *const[]){"{'_id':1,'':1}", "{'_id':2,'':{'':2,'a':3}}",
                                              "{'_id':3,'a':{'':1}}", "{'_id':4}", NULL});
    IDS("1", "{'':1}");
    IDS("2", "{'.':2}");
    IDS("2", "{'':{'a':3}}");
    IDS("3", "{'a.':1}");
    IDS("1 2", "{'':{'$exists':true}}");
    IDS("3 4", "{'$nor':[{'':{'$exists':true}}]}");
    IDS("2", "{'':{'$and':[{'':2},{'a':3}]}}");
    memory_db_close(db);
}

int main(void) {
    library_regex_start();
    RUN(bt_takes_both_ends_in_either_order);
    RUN(ends_and_parts_of_strings);
    RUN(tokens);
    if (library_pcre2()) {
        RUN(regular_expressions);
        RUN(a_hostile_pattern_ends_in_an_error);
    }
    RUN(icase_folds_all_of_unicode);
    RUN(arrays_as_wholes);
    RUN(types_and_remainders);
    RUN(keys_of_maps);
    RUN(any_field);
    RUN(any_field_of_a_name);
    RUN(collations);
    RUN(bits_of_numbers_and_bytes);
    RUN(a_regular_expression_selects_its_equal);
    RUN(the_empty_key_can_be_asked_for);
    return check_finish();
}
