// Where the page is, as the part of its address behind the #: a permanent link to a view, a record, a filter.
//
//   #/table?scope=0&where=label+%3D%3D+7      #/gallery?text=star      #/record/0/12      #/episode/0/3      #/damage/0

export function read(hash = location.hash) {
  const [path, query] = hash.replace(/^#\/?/, "").split("?", 2);
  const [view, file, row] = path.split("/");
  const parameters = new URLSearchParams(query || "");
  return {
    view: ["table", "gallery", "record", "episode", "damage"].includes(view) ? view : "table",
    file: whole(file),
    row: whole(row),
    scope: whole(parameters.get("scope")) ?? "all",
    where: parameters.get("where") || "",
    text: parameters.get("text") || "",
    at: whole(parameters.get("at")) ?? 0,
  };
}

export function link(place) {
  const query = new URLSearchParams();
  if (place.scope !== undefined && place.scope !== "all") query.set("scope", place.scope);
  if (place.where) query.set("where", place.where);
  if (place.text) query.set("text", place.text);
  if (place.at) query.set("at", place.at);
  const path = place.row === null || place.row === undefined ? [] : [place.file, place.row];
  if (place.view === "damage") path.splice(0, 2, place.file);
  const text = query.toString();
  return `#/${[place.view, ...path].join("/")}${text ? `?${text}` : ""}`;
}

function whole(text) {
  return text !== undefined && text !== null && /^\d{1,15}$/.test(text) ? Number(text) : null;
}
