/** The facts that a commit message is made of. */
export interface CommitFacts {
  /** The intent that the session works under. */
  readonly intent: { readonly id: string; readonly name: string } | undefined;
  /** Prompts of the user since the last commit, oldest first. */
  readonly prompts: readonly string[];
  /** Files that would be committed, relative to the workspace, or to the root of another repository. */
  readonly files: readonly string[];
  /** True if these are only the staged changes. */
  readonly staged: boolean;
}

const asked = "Write the message of a commit of these changes:";
const subjectLength = 72;
const listedFiles = 20;
const messageLimit = 5000;

/** The prompt for a model. The server adds the changes that it mentions, according to the rules. */
export function commitQuestion({ intent, staged }: CommitFacts): string {
  return [
    `${asked} ${staged ? "@staged" : "@diff"}`,
    "Answer with the message alone: a subject of at most 72 characters in the imperative, and, only where the subject does not say it, " +
      "a blank line and the reason. It says what changed and what the user wanted with it. Change nothing and commit nothing.",
    ...(intent === undefined ? [] : [`The work is done under the intent ${intent.id}, “${intent.name}”.`]),
  ].join("\n\n");
}

/** The message in a model's answer; undefined if there is none. */
export function messageOf(answer: string): string | undefined {
  const fenced = /^\s*(```|~~~)[^\n]*\n([\s\S]*?)\n\s*\1\s*$/.exec(answer)?.[2] ?? answer;
  const text = fenced
    .replaceAll(/[^\P{C}\n\t]/gu, "")
    .trim()
    .slice(0, messageLimit);
  return text === "" ? undefined : text;
}

/** A message made without a model: the user's prompts, and the files. */
export function builtMessage({ intent, prompts, files }: CommitFacts): string {
  const wishes = prompts.map(firstLine).filter((line) => line !== "" && !line.startsWith(asked));
  const [first] = wishes;
  const subject = intent?.name || first || `Change ${files.length === 1 ? files[0] : `${files.length} files`}`;
  const listed = wishes.length > 1 || subject !== first ? wishes.map((wish) => `- ${wish}`) : [];
  const rest = files.length - listedFiles;
  const named = [...files.slice(0, listedFiles), ...(rest > 0 ? [`and ${rest} more`] : [])];
  return [
    shortened(subject),
    ...(listed.length === 0 ? [] : [listed.join("\n")]),
    ...(files.length === 0 ? [] : [`Files: ${named.join(", ")}`]),
    ...(intent === undefined ? [] : [`Intent: ${intent.id}`]),
  ].join("\n\n");
}

function firstLine(text: string): string {
  return (text.trim().split("\n", 1)[0] ?? "").replaceAll(/\p{C}/gu, "");
}

function shortened(line: string): string {
  return line.length <= subjectLength ? line : `${line.slice(0, subjectLength - 1).trimEnd()}…`;
}
