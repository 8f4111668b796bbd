// `main.mjs` runs this for `gennai guard hook` before it loads anything else: relay-script.ts in JavaScript, for machines without
// Perl. It asks a server of this user over its Unix socket, which takes a tenth of the time that the whole program takes.

// Nothing is imported: importing a module of Node costs a table of its exports.
const { readdirSync, readFileSync, statSync } = process.getBuiltinModule("node:fs");
const { connect } = process.getBuiltinModule("node:net");

/** Seconds until it refuses; less than any host waits. */
const timeoutSeconds = 20;
/** Longest socket path that every system takes; bytes. */
const maxPath = 100;
const maxAnnouncement = 65_536;
const path = "/gennai.agent.v1.GovernanceService/GuardCall";
const blocked = 2;

/**
 * True if the call was judged, or refused. False if no server listens, or one gave no usable answer: then the program handles the
 * call, and finds the whole input.
 *
 * @param agent as the hook's command names it
 * @see openGuardDoor
 */
export async function relayGuardCall(agent: string): Promise<boolean> {
  const deadline = setTimeout(() => refuse(agent, `no answer within ${timeoutSeconds} seconds`), timeoutSeconds * 1000);
  try {
    const project = projectOf(agent);
    // Before the input is read: if nobody listens, the program reads it.
    const server = await firstThatListens(announced(project));
    if (server === undefined) return false;
    const payload = await inputText();
    const said = await asked(server, { agent, project, payload }).catch(() => undefined);
    if (said === undefined) {
      server.destroy();
      handBack(payload);
      return false;
    }
    if (said !== "") process.stdout.write(`${said}\n`);
    return true;
  } catch (error) {
    // If a hook fails in any other way, most hosts let the call go on.
    refuse(agent, error instanceof Error ? error.message : String(error));
  } finally {
    clearTimeout(deadline);
  }
}

interface Announced {
  readonly socketPath: string;
  readonly token: string;
  readonly pid: number;
  readonly isMine: boolean;
  readonly since: number;
}

function projectOf(agent: string): string {
  const { GENNAI_GUARD_PROJECT: named, CLAUDE_PROJECT_DIR: claudes, PWD: said = "" } = process.env;
  if (named) return named;
  if (agent === "claude-code" && claudes) return claudes;
  // The shell's directory may be the name of a link to this one, but not another directory.
  const [here, there] = [statSync("."), said.startsWith("/") ? statSync(said, { throwIfNoEntry: false }) : undefined];
  return there !== undefined && here.dev === there.dev && here.ino === there.ino ? said : process.cwd();
}

/** Servers as they announced themselves: those of the project first, then the newest. */
function announced(project: string): readonly Announced[] {
  const { GENNAI_STATE_DIR: stateDir = "" } = process.env;
  // A person installed the hook by hand: the program finds the state directory.
  if (!stateDir.startsWith("/")) return [];
  const directory = `${stateDir}/servers`;
  const own = process.getuid?.();
  try {
    const { uid, mode } = statSync(directory);
    // Nobody else may be able to create a socket there.
    if (own === undefined || uid !== own || (mode & 0o022) !== 0) return [];
    const found = readdirSync(directory).flatMap((name) => announcedIn(`${directory}/${name}`, { own, project }) ?? []);
    return found.toSorted((one, other) => Number(other.isMine) - Number(one.isMine) || other.since - one.since);
  } catch {
    return [];
  }
}

function announcedIn(
  file: string,
  { own, project }: { readonly own: number; readonly project: string },
): Announced | undefined {
  const socketPath = file.replace(/\.json$/, ".sock");
  if (socketPath === file || Buffer.byteLength(socketPath) > maxPath) return undefined;
  const { uid, mode, mtimeMs, size } = statSync(file);
  if (uid !== own || (mode & 0o077) !== 0 || size > maxAnnouncement) return undefined;
  try {
    const record: unknown = JSON.parse(readFileSync(file, "utf8"));
    if (typeof record !== "object" || record === null || !("token" in record) || !("workspace" in record))
      return undefined;
    const { token, workspace } = record;
    if (typeof token !== "string" || !/^[\x21-\x7e]+$/.test(token)) return undefined;
    const pid = Number("pid" in record && record.pid);
    return { socketPath, token, pid, isMine: workspace === project, since: mtimeMs };
  } catch {
    return undefined;
  }
}

type Connected = ReturnType<typeof connect> & { readonly token: string };

/** Rejects if there are only stopped ones: they would take the question, and say nothing. */
async function firstThatListens(servers: readonly Announced[]): Promise<Connected | undefined> {
  const asleep = servers.filter(({ pid }) => isStopped(pid));
  for (const { socketPath, token } of servers.filter((each) => !asleep.includes(each))) {
    const socket = connect(socketPath);
    const isThere = await new Promise<boolean>((resolve) => {
      socket.once("connect", () => resolve(true)).once("error", () => resolve(false));
    });
    if (isThere) return Object.assign(socket, { token });
  }
  if (asleep[0] !== undefined) throw new Error(`its server is stopped: 'kill -CONT ${asleep[0].pid}' lets it go on`);
  return undefined;
}

/** As by Ctrl-Z. False where the system has no `/proc`. */
function isStopped(pid: number): boolean {
  try {
    return /\) [Tt] [^)]*$/.test(readFileSync(`/proc/${pid}/stat`, "latin1"));
  } catch {
    return false;
  }
}

function inputText(): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    process.stdin.on("data", (chunk: Buffer) => chunks.push(chunk));
    process.stdin.once("end", () => resolve(Buffer.concat(chunks).toString("utf8"))).once("error", reject);
  });
}

/** Lets the program read the input as if nobody had read it. */
function handBack(payload: string): void {
  const { Readable } = process.getBuiltinModule("node:stream");
  Object.defineProperty(process, "stdin", { value: Readable.from([Buffer.from(payload)]), configurable: true });
}

/** What the agent is to be told; empty: nothing. undefined for an incomplete answer. Rejects for input that is not JSON. */
async function asked(
  server: Connected,
  call: { readonly agent: string; readonly project: string; readonly payload: string },
): Promise<string | undefined> {
  const payload: unknown = JSON.parse(call.payload);
  const body = JSON.stringify({ payload, host: call.agent, workingDir: call.project });
  const head = [
    `POST ${path} HTTP/1.0`,
    "Host: localhost",
    `Authorization: Bearer ${server.token}`,
    "Content-Type: application/json",
    "Connect-Protocol-Version: 1",
    `Content-Length: ${Buffer.byteLength(body)}`,
  ];
  return saidIn(await answerOf(server, [...head, "", body].join("\r\n")));
}

function answerOf(socket: Connected, request: string): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    socket.on("data", (chunk) => chunks.push(Buffer.from(chunk)));
    socket.once("end", () => resolve(Buffer.concat(chunks))).on("error", reject);
    socket.write(request);
  });
}

function saidIn(answer: Buffer): string | undefined {
  const text = answer.toString("latin1");
  const end = text.indexOf("\r\n\r\n");
  const head = text.slice(0, end);
  const body = answer.subarray(end + 4);
  const length = /^content-length: *(\d+)/im.exec(head)?.[1];
  if (end < 0 || !/^HTTP\/1\.[01] 200 /.test(head) || Number(length) !== body.length) return undefined;
  const said = body.toString("utf8");
  return said === "{}" ? "" : /^\{"answer":(\{.*\})\}$/s.exec(said)?.[1];
}

/** Refuses like the relay; exits at once, because the agent reads nothing that comes later. */
function refuse(agent: string, why: string): never {
  process.stderr.write(
    `Gennai guards this agent and could not judge the call (${why}), so nothing is changed. Tell the user: start it with 'gennai serve'. Or take the guard away, for its next session, with 'gennai guard uninstall ${agent}'.\n`,
  );
  process.exit(blocked);
}
