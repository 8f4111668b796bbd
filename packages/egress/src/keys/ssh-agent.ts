import { mkdtempSync, rmSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { hasSigned, SshFields } from "./ssh-signature.ts";

/** For what an agent signs: one login to one host. */
export interface AgentBounds {
  /** Keys by which the user knows the host, in base64. */
  readonly hostKeys: ReadonlySet<string>;
  /** The name at the host. */
  readonly user: string;
  /** Signatures that it gives at most. */
  readonly most: number;
}

/** An agent, while it is needed. */
export interface HeldAgent extends Disposable {
  readonly socket: string;
}

/** An agent for one run. */
export interface BoundAgent extends HeldAgent {
  /** Why it signed something not, each reason once: a run may ask without end. */
  readonly refusals: ReadonlySet<string>;
}

/** Numbers of messages (draft-ietf-sshm-ssh-agent, PROTOCOL.agent of OpenSSH). */
const message = { failure: 5, list: 11, sign: 13, signed: 14, extension: 27 } as const;
/** Of a request to log in (RFC 4252). */
const userauth = 50;
/** Bytes; longer ones are no messages of ssh's. */
const maxMessage = 256 * 1024;

/**
 * Stands between a run and the user's agent: passes on only the list of keys, and requests to log in as one user to a host that
 * has proven its key. That the host signed the session is told by OpenSSH 8.9 and newer; without it nothing is signed.
 *
 * @param own the user's agent, which ends with it
 */
export async function boundAgent(own: HeldAgent, bounds: AgentBounds): Promise<BoundAgent> {
  const directory = privateDirectory();
  const path = join(directory, "agent");
  const refusals = new Set<string>();
  const open = new Set<Socket>();
  let left = bounds.most;
  const serve = async (inside: Socket): Promise<void> => {
    const outside = connect(own.socket);
    for (const socket of [inside, outside]) {
      open.add(socket.on("error", () => undefined));
      socket.once("close", () => {
        open.delete(socket);
        inside.destroy();
        outside.destroy();
      });
    }
    const answers = messagesOf(outside);
    let session: string | undefined;
    for await (const asked of messagesOf(inside)) {
      const read = readRequest(asked, session, bounds);
      if (read.type === "bound") session = read.session;
      const why = read.type === "refused" ? read.why : read.type === "signs" && left === 0 ? usedUp : undefined;
      if (why !== undefined) {
        refusals.add(why);
        inside.write(framed(Buffer.from([message.failure])));
        continue;
      }
      if (read.type === "signs") left -= 1;
      outside.write(framed(asked));
      const { value: answer } = await answers.next();
      if (answer === undefined) break;
      if (read.type === "signs" && answer[0] !== message.signed) left += 1;
      inside.write(framed(answer));
    }
    inside.destroy();
  };
  const server = createServer((inside) => void serve(inside).catch(() => inside.destroy()));
  const end = (): void => {
    server.close();
    for (const socket of open) socket.destroy();
    rmSync(directory, { recursive: true, force: true });
    own[Symbol.dispose]();
  };
  try {
    await new Promise<void>((resolve, reject) => server.on("error", reject).listen(path, resolve));
  } catch (error) {
    end();
    throw error;
  }
  return { socket: path, refusals, [Symbol.dispose]: end };
}

/** A new directory that nobody else may enter. */
export function privateDirectory(): string {
  return mkdtempSync(join(tmpdir(), "gennai-agent-"));
}

type ReadRequest =
  | { readonly type: "lists" | "signs" }
  | { readonly type: "bound"; readonly session: string }
  | { readonly type: "refused"; readonly why: string };

/** @param session that this connection is bound to, in base64 */
function readRequest(asked: Buffer, session: string | undefined, { hostKeys, user }: AgentBounds): ReadRequest {
  try {
    const fields = new SshFields(asked.subarray(1));
    if (asked[0] === message.list && fields.isAtEnd) return { type: "lists" };
    if (asked[0] === message.extension && fields.text() === "session-bind@openssh.com") {
      if (session !== undefined) return refused("Its connection is bound to another one already.");
      const [key, bound, signature] = [fields.bytes(), fields.bytes(), fields.bytes()];
      const isForwarded = fields.byte() !== 0;
      const isHost = !isForwarded && fields.isAtEnd && hostKeys.has(key.toString("base64"));
      return isHost && hasSigned(key, bound, signature)
        ? { type: "bound", session: bound.toString("base64") }
        : refused("It wanted to log in to another host.");
    }
    if (asked[0] !== message.sign) return refused("It wanted more of the agent than a login.");
    const key = fields.bytes();
    const login = new SshFields(fields.bytes());
    const isWhole = fields.uint32() >= 0 && fields.isAtEnd;
    const [of, kind, name, service] = [login.bytes(), login.byte(), login.text(), login.text()];
    const [method, signs, , by] = [login.text(), login.byte(), login.text(), login.bytes()];
    const isBoundToHost = method === "publickey-hostbound-v00@openssh.com";
    const isHost = !isBoundToHost || hostKeys.has(login.bytes().toString("base64"));
    if (session === undefined) return refused("This ssh does not tell the agent its host: OpenSSH 8.9 or newer does.");
    const isLogin =
      isWhole &&
      kind === userauth &&
      service === "ssh-connection" &&
      (isBoundToHost || method === "publickey") &&
      signs === 1 &&
      by.equals(key) &&
      login.isAtEnd;
    return isLogin && isHost && name === user && of.toString("base64") === session
      ? { type: "signs" }
      : refused("It wanted a signature for something else than that login.");
  } catch {
    return refused("It said to the agent what cannot be read.");
  }
}

function refused(why: string): ReadRequest {
  return { type: "refused", why };
}

const usedUp = "It wanted to log in again.";

/** Without their lengths; ends with the connection, or at what is no message. */
async function* messagesOf(socket: Socket): AsyncGenerator<Buffer, undefined> {
  let held: Buffer = Buffer.alloc(0);
  for await (const chunk of socket as AsyncIterable<Buffer>) {
    held = Buffer.concat([held, chunk]);
    while (held.length >= 4) {
      const end = 4 + held.readUInt32BE(0);
      if (end === 4 || end > maxMessage) return;
      if (held.length < end) break;
      yield held.subarray(4, end);
      held = held.subarray(end);
    }
  }
}

function framed(text: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(text.length);
  return Buffer.concat([length, text]);
}
