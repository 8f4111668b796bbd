import type { LimitFunction } from "p-limit";
import type { Paint } from "../terminal/colours.ts";
import type { LineInput } from "../terminal/line-input.ts";
import { askUserAtTerminal } from "./ask-user-at-terminal.ts";
import type { AskedPerson } from "./headless-editor.ts";
import { confirmAtTerminal } from "./terminal-confirmation.ts";

export interface PersonPlace {
  readonly input: Pick<LineInput, "question">;
  /** One question at a time, in order of arrival. */
  readonly inOrder: LimitFunction;
  readonly paint: Paint;
  /** Where questions are written; called after `breakLine`. */
  readonly write: (text: string) => void;
  /** Ends a line that is being printed. */
  readonly breakLine: () => void;
}

/** A person who reads lines and answers by lines. */
export function personInLines({ inOrder, breakLine, ...place }: PersonPlace): AskedPerson {
  const asked = <Answer>(ask: () => Promise<Answer>): Promise<Answer> =>
    inOrder(() => {
      breakLine();
      return ask();
    });
  return {
    confirm: (question, { signal }) => asked(() => confirmAtTerminal(question, { ...place, signal })),
    askUser: (questions, { signal }) => asked(() => askUserAtTerminal(questions, { ...place, signal })),
  };
}
