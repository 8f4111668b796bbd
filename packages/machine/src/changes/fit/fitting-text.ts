import { hasLookAlikes, type LooseText, looseText } from "./loose-text.ts";

/** A text in its loose forms; each is made once, at its first search. */
export class FittingText {
  readonly text: string;
  readonly #forms = new Map<boolean, SearchedText>();

  constructor(text: string) {
    this.text = text;
  }

  form(lookAlikes: boolean): SearchedText {
    const known = this.#forms.get(lookAlikes);
    if (known !== undefined) return known;
    const made =
      lookAlikes && !hasLookAlikes(this.text)
        ? this.form(false)
        : new SearchedText(this.text, looseText(this.text, { lookAlikes }));
    this.#forms.set(lookAlikes, made);
    return made;
  }
}

/** One loose form. */
export class SearchedText {
  readonly loose: LooseText;
  readonly #original: string;
  #bodies: string | undefined;
  #lines: readonly string[] | undefined;

  constructor(original: string, loose: LooseText) {
    this.#original = original;
    this.loose = loose;
  }

  /** The lines of the loose form without indentation, each between line feeds. */
  get bodies(): string {
    this.#bodies ??= `\n${trimmedLines(this.loose.text)}\n`;
    return this.#bodies;
  }

  /** The lines of the original, without line feeds. */
  get lines(): readonly string[] {
    this.#lines ??= this.#original.split("\n");
    return this.#lines;
  }
}

export function trimmedLines(text: string): string {
  return text
    .split("\n")
    .map((line) => line.trimStart())
    .join("\n");
}
