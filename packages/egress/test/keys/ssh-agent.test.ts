import { execFile, execFileSync } from "node:child_process";
import { generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";
import { once } from "node:events";
import { connect } from "node:net";
import { promisify } from "node:util";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { describe, expect, test } from "vitest";
import { boundAgent } from "#keys/ssh-agent";

const field = (value: Buffer | string): Buffer => {
  const bytes = Buffer.from(value);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length);
  return Buffer.concat([length, bytes]);
};
const part = (jwk: JsonWebKey, name: "x" | "y" | "n" | "e"): Buffer => Buffer.from(jwk[name] ?? "", "base64url");
/** With a zero before it, as it is no negative one. */
const number = (bytes: Buffer): Buffer => field(Buffer.concat([Buffer.from([0]), bytes]));

interface HostKey {
  readonly blob: Buffer;
  signed(text: Buffer): Buffer;
}

function hostKey(kind: "ed25519" | "rsa" | "ec"): HostKey {
  if (kind === "ed25519") {
    const { publicKey, privateKey } = generateKeyPairSync("ed25519");
    return {
      blob: Buffer.concat([field("ssh-ed25519"), field(part(jwkOf(publicKey), "x"))]),
      signed: (text) => Buffer.concat([field("ssh-ed25519"), field(sign(null, text, privateKey))]),
    };
  }
  if (kind === "rsa") {
    const { publicKey, privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
    const jwk = jwkOf(publicKey);
    return {
      blob: Buffer.concat([field("ssh-rsa"), field(part(jwk, "e")), number(part(jwk, "n"))]),
      signed: (text) => Buffer.concat([field("rsa-sha2-512"), field(sign("sha512", text, privateKey))]),
    };
  }
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-384" });
  const jwk = jwkOf(publicKey);
  const point = Buffer.concat([Buffer.from([4]), part(jwk, "x"), part(jwk, "y")]);
  return {
    blob: Buffer.concat([field("ecdsa-sha2-nistp384"), field("nistp384"), field(point)]),
    signed: (text) => {
      const pair = sign("sha384", text, { key: privateKey, dsaEncoding: "ieee-p1363" });
      const numbers = Buffer.concat([number(pair.subarray(0, 48)), number(pair.subarray(48))]);
      return Buffer.concat([field("ecdsa-sha2-nistp384"), field(numbers)]);
    },
  };
}

const jwkOf = (key: KeyObject): JsonWebKey => key.export({ format: "jwk" });

const bind = ({ blob }: Pick<HostKey, "blob">, session: Buffer, signature: Buffer, forwarded = 0): Buffer =>
  Buffer.concat([
    Buffer.from([27]),
    field("session-bind@openssh.com"),
    ...[blob, session, signature].map(field),
    Buffer.from([forwarded]),
  ]);

interface Login {
  readonly session: Buffer;
  readonly user?: string;
  readonly method?: string;
  readonly host?: Buffer;
  readonly more?: string;
}

const wanted = (key: Buffer, { session, user = "git", method = "publickey", host, more = "" }: Login): Buffer => {
  const login = Buffer.concat([
    field(session),
    Buffer.from([50]),
    ...[user, "ssh-connection", method].map(field),
    Buffer.from([1]),
    field("ssh-ed25519"),
    field(key),
    ...(host === undefined ? [] : [field(host)]),
    Buffer.from(more),
  ]);
  return Buffer.concat([Buffer.from([13]), field(key), field(login), Buffer.alloc(4)]);
};

const [refusedBy, boundBy, signedBy] = [5, 6, 14];

/** The kinds of the answers to some messages, of one connection. */
async function answersTo(socket: string, messages: readonly Buffer[]): Promise<readonly (number | undefined)[]> {
  const client = connect(socket);
  await once(client, "connect");
  const kinds: (number | undefined)[] = [];
  for (const message of messages) {
    client.write(field(message));
    const [answer] = (await once(client, "data")) as [Buffer];
    kinds.push(answer[4]);
  }
  client.destroy();
  return kinds;
}

/** The user's own agent, with one key. */
async function ownAgent() {
  const home = await temporaryDirectory();
  execFileSync("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", home.path("id")]);
  const socket = home.path("own");
  const id = Number(/SSH_AGENT_PID=(\d+)/.exec(execFileSync("ssh-agent", ["-a", socket]).toString())?.[1]);
  execFileSync("ssh-add", ["-q", home.path("id")], { env: { ...process.env, SSH_AUTH_SOCK: socket } });
  const key = Buffer.from((await home.read("id.pub")).split(" ")[1] ?? "", "base64");
  const [host, other] = [hostKey("ed25519"), hostKey("ed25519")];
  const hostKeys = new Set([host.blob.toString("base64")]);
  return {
    key,
    host,
    other,
    home,
    bound: (most = 1, keys = hostKeys) =>
      boundAgent({ socket, [Symbol.dispose]() {} }, { hostKeys: keys, user: "git", most }),
    async [Symbol.asyncDispose]() {
      process.kill(id);
      await home[Symbol.asyncDispose]();
    },
  };
}

test.each(["ed25519", "rsa", "ec"] as const)("a host with a key of the kind %s is logged in to, once", async (kind) => {
  await using own = await ownAgent();
  const host = hostKey(kind);
  using agent = await own.bound(1, new Set([host.blob.toString("base64")]));
  const [session, again] = [randomBytes(32), randomBytes(32)];
  const method = "publickey-hostbound-v00@openssh.com";
  const [bound, login] = [
    bind(host, session, host.signed(session)),
    wanted(own.key, { session, method, host: host.blob }),
  ];
  expect(await answersTo(agent.socket, [Buffer.from([11]), bound, login, login])).toEqual([
    12,
    boundBy,
    signedBy,
    refusedBy,
  ]);
  const second = [bind(host, again, host.signed(again)), wanted(own.key, { session: again })];
  expect(await answersTo(agent.socket, second)).toEqual([boundBy, refusedBy]);
  expect([...agent.refusals]).toEqual(["It wanted to log in again."]);
});

describe("with the agent of a run", () => {
  const session = randomBytes(32);
  type Own = Awaited<ReturnType<typeof ownAgent>>;
  const agreed = ({ host }: Own): Buffer => bind(host, session, host.signed(session));
  const rows: readonly (readonly [what: string, messages: (own: Own) => readonly Buffer[]])[] = [
    ["a session of no known host", ({ key }) => [wanted(key, { session })]],
    ["another host", ({ key, other }) => [bind(other, session, other.signed(session)), wanted(key, { session })]],
    [
      "another host's session in the name of the one that is known",
      ({ key, host, other }) => [bind(host, session, other.signed(session)), wanted(key, { session })],
    ],
    [
      "a session that the host signed, and then another one",
      (own) => [agreed(own), wanted(own.key, { session: randomBytes(32) })],
    ],
    [
      "a connection that is bound a second time",
      (own) => {
        const more = randomBytes(32);
        return [agreed(own), bind(own.host, more, own.host.signed(more)), wanted(own.key, { session: more })];
      },
    ],
    [
      "a session that is passed on to another host",
      ({ host, key }) => [bind(host, session, host.signed(session), 1), wanted(key, { session })],
    ],
    ["another user", (own) => [agreed(own), wanted(own.key, { session, user: "root" })]],
    [
      "another host within the login",
      (own) => [
        agreed(own),
        wanted(own.key, { session, method: "publickey-hostbound-v00@openssh.com", host: own.other.blob }),
      ],
    ],
    ["another method", (own) => [agreed(own), wanted(own.key, { session, method: "hostbased" })]],
    ["a login with something behind it", (own) => [agreed(own), wanted(own.key, { session, more: "x" })]],
    [
      "the signature of a file",
      (own) => [
        agreed(own),
        Buffer.concat([Buffer.from([13]), field(own.key), field("SSHSIG and a file"), Buffer.alloc(4)]),
      ],
    ],
    ["to forget all keys", (own) => [agreed(own), Buffer.from([19])]],
    ["to be locked", (own) => [agreed(own), Buffer.concat([Buffer.from([22]), field("x")])]],
    ["another extension", () => [Buffer.concat([Buffer.from([27]), field("query")])]],
    ["a message that is cut short", () => [Buffer.from([13, 0, 0, 0, 9])]],
  ];
  test.each(rows)("%s gets no signature", async (_what, messages) => {
    await using own = await ownAgent();
    using agent = await own.bound();
    const answers = await answersTo(agent.socket, messages(own));
    expect(answers.at(-1)).toBe(refusedBy);
    expect(answers).not.toContain(signedBy);
    expect(agent.refusals.size).toBeGreaterThan(0);
    // What was refused does not count.
    expect(await answersTo(agent.socket, [agreed(own), wanted(own.key, { session })])).toEqual([boundBy, signedBy]);
  });

  test("a program that signs files gets nothing, and after the run the agent is gone", async () => {
    await using own = await ownAgent();
    const agent = await own.bound();
    await own.home.write("x.txt", "x\n");
    await own.home.write("id", "");
    const words = ["-Y", "sign", "-n", "git", "-f", own.home.path("id.pub"), own.home.path("x.txt")];
    const signing = promisify(execFile)("ssh-keygen", words, { env: { ...process.env, SSH_AUTH_SOCK: agent.socket } });
    await expect(signing).rejects.toThrow(/agent refused operation|Couldn't sign/);
    agent[Symbol.dispose]();
    await expect(answersTo(agent.socket, [Buffer.from([11])])).rejects.toThrow("ENOENT");
  });
});
