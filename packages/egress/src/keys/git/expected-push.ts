import { dirname, join } from "node:path";
import { joinedCommands } from "@gennai/governance/network/key-chain";
import { type PushCommand, pushCommandOf } from "@gennai/governance/network/push-command";
import { readGitHead } from "@gennai/machine/git-data/git-head";
import { RefValues } from "@gennai/machine/git-data/ref-values";
import { settingsText } from "../login/settings-text.ts";
import { movedRef, movedRefs } from "../requests/git-requests.ts";
import { type GitPlace, knownTarget } from "./remote-target.ts";

/**
 * What a plain push of branches will most likely send, in the words in which it will be asked about: with them in the question
 * about the host, that is the only one. Undefined if it is not known before, as what stands before it may commit.
 *
 * @param text for the shell
 */
export function expectedPush(text: string, place: GitPlace): string | undefined {
  const command = pushCommandOf(joinedCommands(text)[0] ?? text);
  if (command === undefined || !command.options.every((option) => plain.test(option))) return undefined;
  const target = knownTarget(place, command.remote, "push");
  if (target?.remote === undefined) return undefined;
  const directory = dirname(target.repository.file);
  const refs = new RefValues(directory);
  const moves = branchesOf(command, place.directory).map(([from, to]) => {
    const id = refs.commit(`refs/heads/${from}`);
    const there = refs.commit(`refs/remotes/${target.remote}/${to}`);
    return id === undefined || id === there
      ? undefined
      : movedRef(there ?? "0".repeat(id.length), id, `refs/heads/${to}`);
  });
  const known = moves.flatMap((move) => move ?? []);
  if (moves.length === 0 || known.length < moves.length) return undefined;
  return movedRefs(known, settingsText(join(directory, "shallow")).match(/^[0-9a-f]+$/gm)?.length ?? 0);
}

/** Options that choose nothing of what is sent. */
const plain =
  /^(?:-[vqf]+|--(?:verbose|quiet|progress|no-progress|porcelain|force|force-with-lease|force-if-includes|atomic))$/;

/** The branches here, and there. */
function branchesOf({ refspecs }: PushCommand, directory: string): readonly (readonly [string, string])[] {
  const head = readGitHead(directory);
  const current = head.type === "branch" ? head.branch : "";
  const named = refspecs.length === 0 ? [current] : refspecs;
  return named.map((refspec) => {
    const [from = "", to = from] = refspec.replace(/^\+/, "").split(":");
    const short = (name: string): string => (name === "HEAD" ? current : name.replace(/^refs\/heads\//, ""));
    return [short(from), short(to)];
  });
}
