import { resolve } from "node:path";
import { UnsafeRepository } from "@gennai/git/run/confirmed-repository";
import { git } from "@gennai/git/run/run-git";
import { secretPath } from "@gennai/governance/command/secret-paths";
import { readGitHead } from "@gennai/machine/git-data/git-head";
import { realPath } from "@gennai/machine/host/way-to";
import { isWithin } from "@gennai/protocol/is-within";
import { settingsText } from "./login/settings-text.ts";

interface TextPlace {
  readonly directory: string;
  readonly workspaceRoot: string;
  readonly signal: AbortSignal;
  /** Where the refs of the remote are here. */
  readonly refs?: string;
  readonly usualBranch?: string;
}

/**
 * The words of a call of gh with the texts in them that it takes from files of the workspace and from commits, so that the question
 * shows these. Undefined where they are not known before.
 */
export async function withTexts(
  words: readonly string[] | undefined,
  place: TextPlace,
): Promise<readonly string[] | undefined> {
  const [noun = "", verb = "", ...rest] = words ?? [];
  if (words === undefined || !/^(?:issue|pr|release)$/.test(noun)) return words;
  const fills = noun === "pr" && verb === "create";
  const filled: string[] = [noun, verb];
  let isFilled = false;
  for (let at = 0; at < rest.length; at += 1) {
    const [option = "", joined] = (rest[at] ?? "").split(/(?<=^(?:-F|--(?:body|notes)-file))=?(.*)/s);
    if (fills && /^(?:-f|--fill)$/.test(option)) isFilled = true;
    else if (/^(?:-F|--(?:body|notes)-file)$/.test(option)) {
      const text = textOf(joined || (rest[(at += 1)] ?? ""), place);
      if (text === undefined) return undefined;
      filled.push(noun === "release" ? "--notes" : "--body", text);
    } else filled.push(rest[at] ?? "");
  }
  if (!isFilled) return filled;
  const said = await textOfCommits(valueOf(rest, ["-B", "--base"]) ?? place.usualBranch, place);
  if (said === undefined) return undefined;
  const has = (option: RegExp): boolean => filled.some((word) => option.test(word));
  return [
    ...filled,
    ...(has(/^(?:-t|--title)(?:=|$)/) ? [] : ["--title", said.title]),
    ...(has(/^(?:-b|--body)(?:=|$)/) ? [] : ["--body", said.body]),
  ];
}

/** Of a file of the workspace that holds no secrets; no link leads to another. */
function textOf(name: string, { directory, workspaceRoot }: TextPlace): string | undefined {
  const path = name === "" || name === "-" ? undefined : realPath(resolve(directory, name));
  const isShown = path !== undefined && isWithin(path, { directory: workspaceRoot }) && secretPath(path) === undefined;
  const text = isShown ? settingsText(path) : "";
  return text === "" ? undefined : text.trim();
}

export function valueOf(words: readonly (string | undefined)[], names: readonly string[]): string | undefined {
  for (const [index, word = ""] of words.entries()) {
    if (names.includes(word)) return words[index + 1];
    for (const name of names) {
      if (name.startsWith("--") && word.startsWith(`${name}=`)) return word.slice(name.length + 1);
      if (!name.startsWith("--") && word.startsWith(name)) return word.slice(name.length).replace(/^=/, "");
    }
  }
  return undefined;
}

/** As `gh pr create --fill` takes them: of one commit its own, of several a list. */
async function textOfCommits(
  branch: string | undefined,
  { directory, refs, signal }: TextPlace,
): Promise<{ readonly title: string; readonly body: string } | undefined> {
  const from = `${refs}${branch}`;
  if (refs === undefined || branch === undefined || !/^[\w./-]+$/.test(from)) return undefined;
  const head = readGitHead(directory);
  try {
    const log = ["--no-replace-objects", "log", "--no-show-signature", "--format=%s%x01%b%x02", `${from}..HEAD`];
    const { code, stdout } = await git(log, { directory, signal });
    const commits = stdout.split("\u0002").flatMap((text) => {
      const [title, body = ""] = text.trimStart().split("\u0001");
      return title === undefined || title === "" ? [] : [{ title, body: body.trim() }];
    });
    const [only, ...others] = commits;
    if (code !== 0 || only === undefined) return undefined;
    if (others.length === 0) return only;
    const title = head.type === "branch" ? head.branch.replaceAll(/[_-]/g, " ") : "";
    return {
      title,
      body: commits
        .toReversed()
        .map((one) => `- ${one.title}`)
        .join("\n"),
    };
  } catch (error) {
    if (error instanceof UnsafeRepository) return undefined;
    throw error;
  }
}
