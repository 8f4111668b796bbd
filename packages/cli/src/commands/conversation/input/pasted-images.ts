import { statSync } from "node:fs";
import { homedir } from "node:os";
import { basename, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const paste = /^\u001b\[200~([^]*)\u001b\[201~$/;
/** Words of a shell, as terminals write the paths of files that are dropped on them. */
const words = /"[^"\n]+"|'[^'\n]+'|(?:\\[^\n]|[^\s\\"'])+/g;

/** Pictures that were pasted into a prompt as paths, each by the mark that stands for it there. */
export class PastedImages {
  readonly #directory: string;
  readonly #files = new Map<string, string>();

  /** @param directory of relative paths */
  constructor(directory: string) {
    this.#directory = directory;
  }

  /** What a terminal sends, with marks in place of a paste that is nothing but paths of pictures. */
  marked(data: string): string {
    const pasted = paste.exec(data)?.[1]?.trim();
    if (pasted === undefined || pasted === "" || pasted.includes("\n")) return data;
    const found = pasted.match(words) ?? [];
    const files = found.map((word) => this.#picture(word));
    if (files.some((file) => file === undefined) || found.join("").length < pasted.replace(/\s/g, "").length)
      return data;
    const marks = files.map((file) => this.#mark(file ?? ""));
    return `\u001b[200~${marks.join(" ")} \u001b[201~`;
  }

  /** The files whose marks a prompt has. */
  in(prompt: string): readonly string[] {
    return [...this.#files].flatMap(([mark, file]) => (prompt.includes(mark) ? [file] : []));
  }

  #mark(file: string): string {
    const known = [...this.#files].find(([, each]) => each === file)?.[0];
    if (known !== undefined) return known;
    const name = basename(file).replace(/[^\p{L}\p{N}._ -]/gu, "_");
    for (let number = 1; ; number++) {
      const mark = `[image ${name}${number === 1 ? "" : ` ${number}`}]`;
      if (this.#files.has(mark)) continue;
      this.#files.set(mark, file);
      return mark;
    }
  }

  /** The path of a picture that is there. */
  #picture(word: string): string | undefined {
    const path = pathOf(word);
    if (path === undefined || !/\.(?:png|jpe?g|gif|webp)$/i.test(path)) return undefined;
    const file = resolve(this.#directory, path);
    return statSync(file, { throwIfNoEntry: false })?.isFile() === true ? file : undefined;
  }
}

function pathOf(word: string): string | undefined {
  if (/^["']/.test(word)) return word.slice(1, -1);
  if (word.startsWith("file://")) return URL.canParse(word) ? fileURLToPath(word) : undefined;
  const path = process.platform === "win32" ? word : word.replace(/\\(.)/g, "$1");
  return path.startsWith("~/") ? `${homedir()}${path.slice(1)}` : path;
}
