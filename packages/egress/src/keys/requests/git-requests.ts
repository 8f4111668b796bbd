import { plural } from "@gennai/protocol/plural";
import type { BodyReader, LoginRequest, LoginUse, RequestMeaning } from "../../network/added-login.ts";

/**
 * What git may do with a login in some repositories of a host: read them; and push, each time after a yes to exactly the refs.
 *
 * @param paths of repositories, as in their addresses
 * @param authorization value of the header
 */
export function gitUse(
  paths: readonly string[],
  authorization: string,
  { method, path, query, headers }: LoginRequest,
): LoginUse | undefined {
  const repository = paths.map((one) => one.replace(/\/+$/, "")).find((one) => path.startsWith(`${one}/`));
  if (repository === undefined) return undefined;
  const what = `${method} ${path.slice(repository.length)}${query}`;
  if (/^GET \/info\/refs\?service=git-(?:upload|receive)-pack$/.test(what)) {
    return { authorization, headers: ["git-protocol"] };
  }
  const [, service] = /^POST \/git-(upload|receive)-pack$/.exec(what) ?? [];
  if (service === undefined || headers["content-type"] !== `application/x-git-${service}-pack-request`)
    return undefined;
  if (service === "upload") {
    return { authorization, headers: ["content-type", "content-encoding", "git-protocol"], body: fetches };
  }
  // What is packed could not be read.
  if (headers["content-encoding"] !== undefined) return undefined;
  return {
    authorization,
    headers: ["content-type", "git-protocol"],
    body: pushesTo(paths.length > 1 ? repository : ""),
  };
}

const fetches: BodyReader = { most: 0, early: true, read: () => ({ type: "reads" }) };

/** The refs stand before the objects, which their ids bind. @param repository its path, if it has to be told */
function pushesTo(repository: string): BodyReader {
  return {
    most: 64 * 1024,
    early: true,
    read: (bytes, isWhole) => {
      const meaning = pushedRefs(bytes, isWhole);
      return meaning?.type === "writes" && repository !== ""
        ? { ...meaning, what: `${meaning.what}, in ${repository},` }
        : meaning;
    },
  };
}

/** More than a person reads. */
const maxRefs = 20;

/** The refs that a push would move: the beginning of what git sends to `git-receive-pack` (gitprotocol-pack). */
export function pushedRefs(bytes: Buffer, isWhole: boolean): RequestMeaning | undefined {
  // With much to send, git first looks whether it may send at all.
  if (bytes.toString("latin1") === "0000") return isWhole ? { type: "reads" } : undefined;
  const moves: string[] = [];
  const names = new Set<string>();
  let shallow = 0;
  for (let at = 0; ; ) {
    const length = bytes.toString("latin1", at, at + 4);
    if (length.length < 4) return undefined;
    if (length === "0000") break;
    const end = at + Number.parseInt(length, 16);
    if (!/^[0-9a-f]{4}$/i.test(length) || end < at + 5) return strange;
    if (bytes.length < end) return undefined;
    const line = bytes.toString("latin1", at + 4, end).replace(/\n$/, "");
    at = end;
    if (/^shallow (?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(line)) {
      shallow += 1;
      continue;
    }
    const [, from = "", to = "", name = "", abilities = ""] =
      /^([0-9a-f]{40}|[0-9a-f]{64}) ([0-9a-f]{40}|[0-9a-f]{64}) ([^\0]+)(?:\0([^\0]*))?$/.exec(line) ?? [];
    if (!isRef(name) || from.length !== to.length || names.has(name)) return strange;
    // Git takes also a tab for their end.
    if (!abilities.split(" ").every((one) => one === "" || harmless.test(one))) {
      return {
        type: "refused",
        why: "With a login, git pushes without push options, signatures and unknown abilities.",
      };
    }
    names.add(name);
    moves.push(movedRef(from, to, name));
  }
  if (moves.length === 0) return strange;
  if (moves.length > maxRefs) return { type: "refused", why: `It would push more than ${maxRefs} refs at once.` };
  return { type: "writes", what: movedRefs(moves, shallow) };
}

/** Abilities of a client that change neither what is sent behind the refs, nor what a server does with it. */
const harmless =
  /^(?:report-status(?:-v2)?|side-band(?:-64k)?|quiet|atomic|ofs-delta|delete-refs|object-format=sha(?:1|256)|agent=git\/[\w.+()-]{1,60}|session-id=[\w.-]{1,60})$/;

/** In words for people. @param moves see `movedRef` @param shallow commits at which the history of the repository here ends */
export function movedRefs(moves: readonly string[], shallow: number): string {
  const cut = shallow === 0 ? "" : ` (from a clone whose history ends at ${plural(shallow, "commit")})`;
  return `${moves.join(", ")}${cut}`;
}

/** In words for people. @param from id; zeros for a ref that is not there */
export function movedRef(from: string, to: string, name: string): string {
  if (/^0+$/.test(to)) return `delete ${name} (now ${from})`;
  return `push ${to} to ${name} (${/^0+$/.test(from) ? "new" : `now ${from}`})`;
}

/** Only names that look like what they are. */
function isRef(name: string): boolean {
  return /^refs\/[\x21-\x7e]+$/.test(name) && !/[~^:?*[\\]|\.\.|@\{|\/\/|\/$|\.lock$/.test(name);
}

const strange: RequestMeaning = { type: "refused", why: "It is not a push as git sends it." };
