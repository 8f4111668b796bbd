import { InvalidField } from "./checked-field.ts";

/** A word's number, among what else is said of the word. */
interface Row<Message> {
  readonly message: Message;
}

/** Our words for the numbers of an enum of the protocol, in both directions. Enums are open on the wire: any number may arrive. */
export class EnumWords<Word extends string, Message extends number> {
  readonly #messages: Readonly<Record<Word, Message | Row<Message>>>;
  /** In the order they were written down in. */
  readonly words: readonly Word[];

  constructor(messages: Readonly<Record<Word, Message | Row<Message>>>) {
    this.#messages = messages;
    this.words = Object.keys(messages).filter((word): word is Word => Object.hasOwn(messages, word));
  }

  toMessage(word: Word): Message {
    const message: Message | Row<Message> = this.#messages[word];
    return typeof message === "object" ? message.message : message;
  }

  /** undefined for a number that is none of them. */
  fromMessage(message: number | undefined): Word | undefined {
    return this.words.find((word) => this.toMessage(word) === message);
  }

  /** @throws InvalidField for a number that is none of them */
  checkedFromMessage(message: number, field: string): Word {
    const word = this.fromMessage(message);
    if (word === undefined) throw new InvalidField(`${field} has no meaning: ${message}.`);
    return word;
  }
}
