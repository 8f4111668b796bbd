import { InvalidField } from "./checked-field.ts";

/** Our words for the numbers of an enum of the protocol, in both directions. Enums are open on the wire: any number may arrive. */
export class EnumWords<Word extends string, Message extends number> {
  readonly #messages: Readonly<Record<Word, Message>>;
  /** In the order they were written down in. */
  readonly words: readonly Word[];

  constructor(messages: Readonly<Record<Word, Message>>) {
    this.#messages = messages;
    this.words = Object.keys(messages).filter((word): word is Word => Object.hasOwn(messages, word));
  }

  toMessage(word: Word): Message {
    return this.#messages[word];
  }

  /** undefined for an unknown number. */
  fromMessage(message: number | undefined): Word | undefined {
    return this.words.find((word) => this.#messages[word] === message);
  }

  /** @throws InvalidField for an unknown number */
  checkedFromMessage(message: number, field: string): Word {
    const word = this.fromMessage(message);
    if (word === undefined) throw new InvalidField(`${field} has no meaning: ${message}.`);
    return word;
  }
}

/** An enum's own name of a value as we write it: "openai-compatible" for `OPENAI_COMPATIBLE`. */
type NameAsWord<Name extends string> = Name extends `${infer First}_${infer Rest}`
  ? `${Lowercase<First>}-${NameAsWord<Rest>}`
  : Lowercase<Name>;

/** The values of a generated enum, in its order, each under its own name: for an enum that needs no other words. */
export function namesAsWords<Name extends string, Message extends number>(
  values: Readonly<Record<Name, Message>>,
): Readonly<Record<NameAsWord<Exclude<Name, "UNSPECIFIED">>, Message>>;
export function namesAsWords(values: Readonly<Record<string, number>>): Readonly<Record<string, number>> {
  return Object.fromEntries(
    Object.entries(values)
      .filter(([name]) => name !== "UNSPECIFIED")
      .map(([name, message]) => [name.toLowerCase().replaceAll("_", "-"), message]),
  );
}
