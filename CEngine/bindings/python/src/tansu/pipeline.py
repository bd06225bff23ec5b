"""Aggregation pipelines, as far as the engine's queries and groups have their stages."""

from typing import Any, Dict, Mapping, NoReturn, Optional, Sequence

from . import errors
from .cursor import keys_document

# Stages in the only order in which the engine applies them.
_ORDER = ["$match", "$group", "$sort", "$skip", "$limit", "$project", "$count"]
_ACCUMULATORS = {
    "$sum": "$sum", "$avg": "$avg", "$min": "$min", "$max": "$max", "$first": "$first", "$last": "$last",
    "$addToSet": "$distinct",
}  # fmt: skip


def _unsupported(place: str, what: str) -> NoReturn:
    raise errors.Unsupported(f"{what} is not supported in a pipeline; see Collection.find and Collection.group", place)


class Pipeline:
    """What a pipeline says: a query, hints, and either a group, a name for a count, or documents."""

    def __init__(self, stages: Sequence[Mapping[str, Any]]) -> None:
        self.match: Dict[str, Any] = {}
        self.hints: Dict[str, Any] = {}
        self.group: Optional[Dict[str, Any]] = None
        self.count: Optional[str] = None
        self._members: Dict[str, str] = {}  # of a compound _id: the names that the engine gets
        if isinstance(stages, (str, Mapping)) or not isinstance(stages, Sequence):
            raise TypeError("pipeline must be a list of stages")
        last = 0
        for number, stage in enumerate(stages):
            if not isinstance(stage, Mapping) or len(stage) != 1:
                raise TypeError(f"stage {number} of the pipeline must be a mapping with one key")
            (operator, operand), = stage.items()
            place = f"{number}.{operator}"
            if operator not in _ORDER:
                _unsupported(place, f'The stage "{operator}"')
            position = _ORDER.index(operator)
            if position < last or (position == last and operator != "$match"):
                _unsupported(place, f'The stage "{operator}" after "{_ORDER[last]}"')
            last = position
            getattr(self, "_" + operator[1:])(operand, place)

    def shaped(self, group: Dict[str, Any]) -> Dict[str, Any]:
        """A group of the engine as the pipeline wants it."""
        if self._members:
            identifier: Any = {name: group.pop(given, None) for name, given in self._members.items()}
        else:
            identifier = group.pop("_id", None)
        return {"_id": identifier, **group}

    def _match(self, operand: Any, place: str) -> None:
        if not isinstance(operand, Mapping):
            raise TypeError("the operand of $match must be a mapping")
        self.match = {"$and": [self.match, operand]} if self.match else dict(operand)

    def _group(self, operand: Any, place: str) -> None:
        if not isinstance(operand, Mapping) or "_id" not in operand:
            raise TypeError("the operand of $group must be a mapping with an _id")
        self.group = {"fields": {}}
        for name, expression in operand.items():
            if name == "_id":
                by = self._by(expression, place + "._id")
                if by:
                    self.group["by"] = by
            else:
                self.group["fields"][name] = _accumulator(expression, f"{place}.{name}")
        if any(given in self.group["fields"] for given in self._members.values()):
            _unsupported(place, "A field of that name next to an _id of several fields")

    def _by(self, expression: Any, place: str) -> Optional[Dict[str, Any]]:
        if expression is None:
            return None
        if not isinstance(expression, Mapping) or any(str(name).startswith("$") for name in expression):
            return {"_id": _key(expression, place)}
        self._members = {name: f"_id_{i}" for i, name in enumerate(expression)}
        return {given: _key(expression[name], f"{place}.{name}") for name, given in self._members.items()}

    def _sort(self, operand: Any, place: str) -> None:
        keys = keys_document(operand)
        if self.group is not None:
            if self._members and "_id" in keys:
                _unsupported(place, "Sorting by an _id of several fields")
            renamed = {f"_id.{name}": given for name, given in self._members.items()}
            keys = {renamed.get(path, path): direction for path, direction in keys.items()}
        self.hints["$orderby"] = keys

    def _skip(self, operand: Any, place: str) -> None:
        self.hints["$skip"] = operand

    def _limit(self, operand: Any, place: str) -> None:
        self.hints["$max"] = operand

    def _project(self, operand: Any, place: str) -> None:
        if self.group is not None:
            _unsupported(place, 'The stage "$project" after "$group"')
        if not isinstance(operand, Mapping):
            raise TypeError("the operand of $project must be a mapping")
        for path, value in operand.items():
            if isinstance(value, str) or (isinstance(value, Mapping) and any(key.startswith("$") for key in value)):
                _unsupported(f"{place}.{path}", "A computed field")
        self.hints["$fields"] = operand

    def _count(self, operand: Any, place: str) -> None:
        if self.group is not None or "$fields" in self.hints:
            _unsupported(place, 'The stage "$count" here')
        if not isinstance(operand, str) or not operand:
            raise TypeError("the operand of $count must be a name")
        self.hints.pop("$orderby", None)
        self.count = operand


def _path(expression: Any, place: str) -> str:
    if not isinstance(expression, str) or not expression.startswith("$") or expression.startswith("$$"):
        _unsupported(place, "An expression that is not the path of a field")
    return expression[1:]


def _key(expression: Any, place: str) -> Any:
    if isinstance(expression, Mapping) and list(expression) == ["$dateTrunc"]:
        inner = expression["$dateTrunc"]
        if isinstance(inner, Mapping) and "date" in inner:
            return {"$dateTrunc": {**inner, "date": _path(inner["date"], place + ".$dateTrunc.date")}}
    if isinstance(expression, Mapping):
        place = f"{place}.{next(iter(expression), '')}"
    return _path(expression, place)


def _accumulator(expression: Any, place: str) -> Dict[str, Any]:
    if not isinstance(expression, Mapping) or len(expression) != 1:
        raise TypeError(f"{place} must be a mapping with one accumulator")
    (operator, operand), = expression.items()
    if operator == "$count":
        return {"$count": True}
    if operator not in _ACCUMULATORS:
        _unsupported(f"{place}.{operator}", f'The accumulator "{operator}"')
    if operator == "$sum" and isinstance(operand, (int, float)) and not isinstance(operand, bool):
        return {"$sum": operand}
    return {_ACCUMULATORS[operator]: _path(operand, f"{place}.{operator}")}
