/** Texts by table and name, of TOML as programs write it themselves and of INI; what is none of these is left out. */
export function tablesOf(text: string): ReadonlyMap<string, ReadonlyMap<string, string>> {
  const found = new Map<string, Map<string, string>>();
  let table = new Map<string, string>();
  for (const line of text.split(/\r?\n/)) {
    const head = /^\s*\[([^[\]]+)\]\s*(?:#.*)?$/.exec(line)?.[1];
    if (head !== undefined) found.set(plain(head), (table = found.get(plain(head)) ?? new Map<string, string>()));
    const [, name, single, double, bare] =
      /^\s*([\w."' -]+?)\s*[=:]\s*(?:'([^']*)'\s*(?:#.*)?|"([^"\\]*)"\s*(?:#.*)?|([^\s'"[{].*?)\s*)$/.exec(line) ?? [];
    if (name !== undefined) table.set(plain(name), single ?? double ?? bare ?? "");
  }
  return found;
}

function plain(name: string): string {
  return name.replaceAll(/["'\s]/g, "");
}
