import { hidesSomething, spelledOut } from "@gennai/protocol/hidden-characters";

/**
 * Names of files in one line, as a person and the model read them. What cannot be seen, or would begin a new line or steer a
 * terminal, is spelled out: a file's name must not look like something that Gennai says.
 *
 * @param most names that are shown; of the others, how many there are
 */
export function shownNames(names: readonly string[], most = 20): string {
  const more = names.length - most;
  return `${names.slice(0, most).map(shownName).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}

/** One name, quoted as JSON if necessary. */
export function shownName(name: string): string {
  return /[\t\n]/.test(name) || hidesSomething(name) ? spelledOut(JSON.stringify(name)) : name;
}

/** Text of others in one line, such as the message of a rule. */
export function inOneLine(text: string): string {
  return spelledOut(text.replaceAll(/\s*[\n\r\u2028\u2029]\s*|\t/g, " "));
}
