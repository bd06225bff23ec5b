const box = document.getElementById("search"), found = document.getElementById("found");
if (innerWidth < 736) document.getElementById("pages").open = false;
box.addEventListener("input", () => {
    const words = box.value.toLowerCase().split(/\s+/).filter(Boolean);
    found.replaceChildren();
    const hits = words.length ? entries.filter(([text, page]) => {
        const all = (text + " " + page).toLowerCase();
        return words.every(word => all.includes(word));
    }) : [];
    const first = text => text.toLowerCase().startsWith(words[0]) ? 0 : 1;
    hits.sort((a, b) => first(a[0]) - first(b[0]) || a[0].length - b[0].length);
    for (const [text, page, url] of hits.slice(0, 40)) {
        const item = document.createElement("li"), link = document.createElement("a"), small = document.createElement("small");
        link.href = up + url; link.textContent = text + " "; small.textContent = page;
        link.append(small); item.append(link); found.append(item);
    }
    if (words.length && !hits.length) found.textContent = "nothing found";
    found.hidden = !words.length;
});
found.addEventListener("click", () => { found.hidden = true; });
addEventListener("keydown", event => {
    if (event.key === "Escape") found.hidden = true;
    if (event.key === "/" && document.activeElement !== box) { event.preventDefault(); box.focus(); }
    if (event.key === "Enter" && document.activeElement === box) found.querySelector("a")?.click();
});
