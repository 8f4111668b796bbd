/** One setting, in the form of a git configuration file. @param name with its section, e.g. `remote.origin.url` */
export function settingText(name: string, value: string): string {
  const first = name.indexOf(".");
  const last = name.lastIndexOf(".");
  const quoted = (text: string): string => `"${text.replace(/["\\]/g, "\\$&").replaceAll("\n", "\\n")}"`;
  const section =
    first === last ? name.slice(0, first) : `${name.slice(0, first)} ${quoted(name.slice(first + 1, last))}`;
  return `[${section}]\n\t${name.slice(last + 1)} = ${quoted(value)}\n`;
}
