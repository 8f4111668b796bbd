import type { AnalysisReport } from "./analysis-report.ts";
import type { Invocation } from "./words/invocation.ts";

/** Calls that start a process, or delete, whatever the language. */
const startsOrDeletes =
  /\bos\s*\.\s*(?:system|popen|exec\w*|spawn\w*|fork|execute|remove|unlink|rmdir)\b|\bsubprocess\b|\bchild_process\b|\bsystem\s*[("']|\bshell_exec\b|\bdo\s+shell\s+script\b|\bexec\s*\(?\s*["']\/?\w|%x[({[]|\bqx\s*[/({[|!]|\b(?:rmtree|rm_rf?|unlink|(?:unlink|rm|rmdir)Sync)\b|\bFile\s*\.\s*delete\b|\bFileUtils\s*\.\s*(?:rm|remove)/;

/** Calls that truncate a file, and the file. */
const truncates = /\bopen\s*\(\s*["']([^"'\n]+)["']\s*,\s*(?:mode\s*=\s*)?["'][rab]*[wx]/g;

/** String literals and path-like words in code: they may be files it touches. */
export function pathsInCode(code: string): readonly string[] {
  const found = new Set<string>();
  for (const match of code.matchAll(/"((?:[^"\\\n]|\\.)*)"|'((?:[^'\\\n]|\\.)*)'|`([^`]*)`/g)) {
    const text = match[1] ?? match[2] ?? match[3] ?? "";
    if (text !== "" && text.length < 512 && !/[\n\0]/.test(text)) found.add(text);
  }
  for (const match of code.matchAll(
    /(?:^|[\s"'`(=,:<>])((?:~|\.{1,2})?\/[\w.@/~+-]+|\.[\w][\w./-]*|[\w-]+(?:\/[\w.-]+)+|[\w-]+\.[\w-]+)/g,
  )) {
    if (match[1] !== undefined && match[1].length < 512) found.add(match[1]);
  }
  return [...found].slice(0, 64);
}

/** Code in the words of an interpreter, or on its input: the files it may name, and the plainest ways to harm. */
export function interpretCode(invocation: Invocation, report: AnalysisReport): void {
  const { name, words, input } = invocation;
  for (const text of [...words.map(({ literal }) => literal), input.text]) {
    if (text === undefined || !/[\s"'`(]/.test(text)) continue;
    if (startsOrDeletes.test(text)) {
      const reason = `The ${name} code starts another program, or deletes. Run it as a command of its own.`;
      report.refuse("floor/inline-code", reason, { held: true });
    }
    const written = new Set([...text.matchAll(truncates)].map(([, path]) => path));
    for (const path of pathsInCode(text)) report.mention(path, invocation, written.has(path) ? "write" : "unknown");
  }
}
