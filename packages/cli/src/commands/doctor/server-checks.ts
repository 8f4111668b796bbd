import { Code, ConnectError } from "@connectrpc/connect";
import { connect, connectGovernance } from "@gennai/client/connection/connection";
import { proveServer } from "@gennai/client/connection/prove-server";
import { announcedServers } from "@gennai/client/node/announced-servers";
import type { Check, Finding } from "@gennai/machine/finding";
import { protocolDigest, protocolVersion } from "@gennai/protocol/spoken-protocol";
import { reachProblem } from "../../terminal/reach-problem.ts";
import { version } from "../../terminal/version.ts";
import { certificateChecks } from "./certificate-checks.ts";

/** The address of a server, and its token. */
export interface ServerAddress {
  readonly url: string;
  readonly token: string | undefined;
}

/** Milliseconds by which two clocks may differ before a person should know, and before it does harm. */
const noticeableSkew = 2_000;
const harmfulSkew = 30_000;

/** Checks whether a server answers, accepts the token, and speaks our protocol. */
export async function serverChecks(options: {
  /** Named by the user; undefined: those that announced themselves for this workspace. */
  readonly named: ServerAddress | undefined;
  readonly stateDir: string;
  /** Real path. */
  readonly workspace: string;
}): Promise<readonly Check[]> {
  const { named, stateDir, workspace } = options;
  if (named !== undefined) return checksOf(named);
  const { servers, ignored } = await announcedServers(stateDir);
  const ours = servers.filter((server) => server.workspace === workspace && server.socketPath === undefined);
  const left: readonly Check[] = ignored.map(({ file, reason }) => ({
    name: "server",
    run: async () => ({ check: "server", state: "warn", text: `${file}: ${reason}`, next: [`rm ${file}`] }),
  }));
  if (ours.length > 0)
    return [...ours.flatMap(({ url, token }) => checksOf({ url, token: token ?? undefined })), ...left];
  const none: Finding = {
    check: "server",
    state: "ok",
    text: "no server runs for this workspace; gennai serve starts one",
  };
  return [{ name: "server", run: async () => none }, ...left];
}

function checksOf(place: ServerAddress): readonly Check[] {
  return [
    ...certificateChecks({ urls: [place.url] }),
    { name: "server", run: (signal) => reachFinding(place, signal) },
    { name: "clock", run: (signal) => clockFinding(place, signal) },
  ];
}

async function reachFinding({ url, token }: ServerAddress, signal: AbortSignal): Promise<readonly Finding[]> {
  const check = "server";
  const start = ["Start it with gennai serve, or check the address."];
  // Any program may listen on the port: it must prove that it knows the token before it gets the token.
  if (token !== undefined && new URL(url).protocol === "http:") {
    const proof = await proveServer(url, token, { signal });
    if (proof.type === "nobody") return [{ check, state: "fail", text: `Nobody answers at ${url}.`, next: start }];
    if (proof.type !== "proven") {
      const next = ["Use the token of that server: GENNAI_AUTH_TOKEN or --auth-token-file."];
      return [{ check, state: "fail", text: `${url} does not know this token.`, next }];
    }
  }
  const options = { baseUrl: url, ...(token === undefined ? {} : { token }) };
  try {
    const info = await connect(options).getServerInfo({}, { signal });
    const found: Finding[] = [{ check, state: "ok", text: `${url} answers, version ${info.version}` }];
    if (info.version !== version) {
      const text = `The server is version ${info.version}, this program ${version}.`;
      found.push({ check: "version", state: "warn", text, next: ["Restart the server with the version you want."] });
    }
    return [...found, await protocolFinding(options, info.protocolVersion, signal)];
  } catch (error) {
    const failure = ConnectError.from(error);
    const { code } = failure;
    const next = code === Code.Unauthenticated ? ["Use the token of that server."] : start;
    return [{ check, state: "fail", text: `${url}: ${reachProblem(failure)}`, next }];
  }
}

async function protocolFinding(
  options: { readonly baseUrl: string; readonly token?: string },
  spoken: number,
  signal: AbortSignal,
): Promise<Finding> {
  const check = "protocol";
  if (spoken !== protocolVersion) {
    const text = `The server speaks protocol ${spoken}, this program ${protocolVersion}.`;
    return { check, state: "fail", text, next: ["Use the same version on both sides."] };
  }
  try {
    const { protocolSha256 } = await connectGovernance(options).getParity({}, { signal });
    if (protocolSha256 === protocolDigest()) return { check, state: "ok", text: `${spoken}, the same on both sides` };
    const text = `Both speak protocol ${spoken}, but not the same edition of it: new fields are not understood.`;
    return { check, state: "warn", text, next: ["Use the same version on both sides."] };
  } catch (error) {
    // An older server has no such method, and one with users tells only its admins.
    const { code } = ConnectError.from(error);
    if (code !== Code.Unimplemented && code !== Code.PermissionDenied) throw error;
    return { check, state: "ok", text: `${spoken} on both sides` };
  }
}

/** Compares clocks by the `Date` header of an answer, which has whole seconds. */
async function clockFinding({ url }: ServerAddress, signal: AbortSignal): Promise<Finding> {
  const check = "clock";
  const before = Date.now();
  const response = await fetch(new URL("/livez", url), { signal, redirect: "error" }).catch(() => undefined);
  const after = Date.now();
  await response?.body?.cancel();
  const there = Date.parse(response?.headers.get("date") ?? "");
  if (Number.isNaN(there)) return { check, state: "warn", text: "The server does not say what time it is." };
  // The header has whole seconds, so the time may be any moment within that second.
  const apart = there > after ? there - after : there + 1_000 < before ? before - there - 1_000 : 0;
  if (apart < noticeableSkew) return { check, state: "ok", text: "the server's and this machine's agree" };
  const text = `The server's clock and this machine's are ${Math.round(apart / 1_000)} s apart.`;
  return { check, state: apart < harmfulSkew ? "warn" : "fail", text, next: ["Set both clocks with NTP."] };
}
