import type { PlainWords } from "./program.ts";

/** Whether all words are such that a program does only what its verb says. @param words behind the verb */
export function isPlain(words: readonly string[], { flags, values = "", operands }: PlainWords): boolean {
  const valued = values.split(" ");
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] ?? "";
    const [name = "", value] = word.split(/=(.*)/s, 2);
    if (word !== "" && valued.includes(name)) {
      if ((value ?? words[(at += 1)] ?? "-").startsWith("-")) return false;
    } else if (!(word.startsWith("-") && word !== "-" ? flags : operands).test(word)) return false;
  }
  return true;
}
