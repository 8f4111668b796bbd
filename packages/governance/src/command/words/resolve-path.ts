/** A POSIX path made absolute against `directory`, with `.`, `..` and doubled slashes removed. Links are not followed. */
export function absolutePath(path: string, directory: string): string {
  const parts: string[] = [];
  const whole = path.startsWith("/") ? path : `${directory}/${path}`;
  for (const part of whole.split("/")) {
    if (part === "" || part === ".") continue;
    if (part === "..") parts.pop();
    else parts.push(part);
  }
  return `/${parts.join("/")}`;
}

/**
 * A word read as a path. A leading `~` is the home directory, also where quotes would keep the shell from saying so:
 * taking it for home too often only asks too often.
 */
export function expandPath(form: string, directory: string, home: string): string {
  if (!form.startsWith("~")) return absolutePath(form, directory);
  const slash = form.indexOf("/");
  const user = slash < 0 ? form.slice(1) : form.slice(1, slash);
  const rest = slash < 0 ? "" : form.slice(slash + 1);
  if (user === "") return absolutePath(rest, home);
  if (user === "+") return absolutePath(rest, directory);
  if (user === "root") return absolutePath(rest, "/root");
  return absolutePath(rest, absolutePath(`../${user}`, home));
}
