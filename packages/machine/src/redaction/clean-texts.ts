/** Most UTF-16 code units of one remembered text, and of all together. Longer texts seldom occur twice. */
const longest = 16_384;
const most = 1_048_576;

/** Texts in which no secret was found. Most texts are redacted repeatedly: instructions at each call, paths, arguments. */
export class CleanTexts {
  readonly #texts = new Set<string>();
  #size = 0;

  has(text: string): boolean {
    return text.length <= longest && this.#texts.has(text);
  }

  add(text: string): void {
    if (text.length > longest || this.#texts.has(text)) return;
    if (this.#size + text.length > most) this.clear();
    // A copy: a slice would keep the whole longer text in memory. By UTF-8, one of ASCII alone takes half the memory.
    const encoding = text.isWellFormed() ? "utf8" : "utf16le";
    this.#texts.add(Buffer.from(text, encoding).toString(encoding));
    this.#size += text.length;
  }

  clear(): void {
    this.#texts.clear();
    this.#size = 0;
  }
}
