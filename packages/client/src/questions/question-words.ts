import type { ConfirmationQuestion } from "../connection/editor.ts";

/** How a question reads on its card. */
export interface QuestionWords {
  /** What is asked, in one line, without the command that is shown beside it. */
  readonly what: string;
  /** What a yes does, for a button, e.g. `Delete`. */
  readonly yes: string;
  /** e.g. `Don't delete`. */
  readonly no: string;
}

/** The server's statements begin with what is done. Any other has a yes that only allows. */
const acts: ReadonlySet<string> = new Set([
  "Add",
  "Call",
  "Create",
  "Delete",
  "Edit",
  "End",
  "Fetch",
  "List",
  "Move",
  "Patch",
  "Propose",
  "Read",
  "Restore",
  "Run",
  "Search",
  "Select",
  "Stage",
  "Write",
]);

/** The words of a question, whose answers say what happens. One of an attempt, or of another person, names it first. */
export function questionWords(question: ConfirmationQuestion): QuestionWords {
  const [, attempt = "", title = ""] = /^(Attempt \d+: )?(.*)$/s.exec(question.title) ?? [];
  const words = wordsOf({ ...question, title });
  const of = question.agreedBy === undefined ? attempt : `${question.agreedBy}: `;
  return { ...words, what: `${of}${words.what}` };
}

function wordsOf({ title, actionStatement, computed, diff, parts }: ConfirmationQuestion): QuestionWords {
  if (diff !== undefined || parts !== undefined || title.startsWith("Keep ")) {
    const names = parts?.map(({ name }) => name) ?? computed.paths;
    return { what: `Keep what was changed: ${someOf(names)}?`, yes: "Keep change", no: "Discard" };
  }
  // Who is reached, and with which login, stands in the title alone.
  if (title.startsWith("Let ")) return { what: title, yes: "Allow", no: "Don't allow" };
  const act = /^[A-Z][a-z]+(?= )/.exec(actionStatement)?.[0] ?? "";
  const known = acts.has(act);
  const yes = known ? act : "Allow";
  return {
    what: `${act === "Run" ? `Run this command${where(actionStatement)}` : actionStatement || title.replace(/\?$/, "")}?`,
    // The no is to the branch, and holds for all writes of the turn.
    ...(computed.rule === "branch/protected-branch"
      ? { yes: "Create branch", no: "Only look" }
      : { yes, no: `Don't ${yes.toLowerCase()}` }),
  };
}

/** Longest list of names; all of them are among the parts, or the paths. */
const named = 3;

function someOf(names: readonly string[]): string {
  const more = names.length - named;
  return more > 0 ? `${names.slice(0, named).join(", ")} and ${more} more` : names.join(", ");
}

/** A command's statement ends with where it runs, unless that is the server's own. */
function where(statement: string): string {
  return /`( in [^`]*)$/.exec(statement)?.[1]?.replace("the user's", "your") ?? "";
}
