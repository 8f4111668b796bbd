/**
 * The words of one plain simple command: unquoted harmless characters, or quoted text without expansions. Undefined for
 * anything else: operators, redirections, substitutions, variables, globs, braces, tildes, assignments, comments, line ends. It
 * knows much less of the shell than the analysis, and refuses more often.
 */
export function plainWords(command: string): readonly string[] | undefined {
  const words: string[] = [];
  let rest = command.replace(/^ +| +$/g, "");
  if (rest === "" || rest.length > 2000) return undefined;
  while (rest !== "") {
    const [word] = /^(?:[A-Za-z0-9_@%+=:,./-]|'[^'\p{C}]*'|"[^"\\$`!\p{C}]*")+/u.exec(rest) ?? [];
    if (word === undefined) return undefined;
    words.push(
      word.replaceAll(/'([^']*)'|"([^"]*)"/g, (_whole, single?: string, double?: string) => single ?? double ?? ""),
    );
    const after = rest.slice(word.length);
    rest = after.replace(/^ +/, "");
    if (rest !== "" && rest === after) return undefined;
  }
  const [program = ""] = words;
  return /^[A-Za-z][\w.+-]*$/.test(program) ? words : undefined;
}

/** Words as a shell would be given them, for people. */
export function quotedWords(words: readonly string[]): string {
  return words.map((word) => (/^[A-Za-z0-9_@%+=:,./*-]+$/.test(word) ? word : `'${word}'`)).join(" ");
}
