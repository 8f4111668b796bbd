import { spawn } from "node:child_process";
import { listening } from "@gennai/testkit/listening";
import ssh2 from "ssh2";

export interface GitOverSsh extends AsyncDisposable {
  readonly port: number;
  /** As `known_hosts` has it. */
  readonly knownHost: string;
  /** What was run there. */
  readonly commands: readonly string[];
}

/** A server for git over ssh. @param root of bare repositories @param userKey the public key that may log in, as in `authorized_keys` @param meanwhile is done while a command runs there */
export async function gitOverSsh(
  root: string,
  userKey: string,
  meanwhile: () => Promise<void> = async () => undefined,
): Promise<GitOverSsh> {
  const commands: string[] = [];
  const hostKey = ssh2.utils.generateKeyPairSync("ed25519");
  const [, allowed = ""] = userKey.split(" ");
  const server = new ssh2.Server({ hostKeys: [hostKey.private] }, (client) => {
    client.on("error", () => undefined);
    client.on("authentication", (attempt) => {
      const isKnown = attempt.method === "publickey" && attempt.key.data.toString("base64") === allowed;
      if (!isKnown) {
        attempt.reject(["publickey"]);
        return;
      }
      // Without a signature, it only asks whether the key would do.
      const parsed = ssh2.utils.parseKey(userKey);
      const signed =
        attempt.signature !== undefined &&
        attempt.blob !== undefined &&
        !(parsed instanceof Error) &&
        parsed.verify(attempt.blob, attempt.signature, attempt.hashAlgo) === true;
      if (attempt.signature === undefined || signed) attempt.accept();
      else attempt.reject();
    });
    client.on("session", (accept) => {
      const session = accept();
      session.on("env", (acceptEnv) => acceptEnv?.());
      session.on("exec", async (acceptExec, _reject, { command }) => {
        commands.push(command);
        await meanwhile();
        const channel = acceptExec();
        const git = spawn("git", ["shell", "-c", command], { cwd: root, stdio: "pipe" });
        channel.pipe(git.stdin);
        git.stdout.pipe(channel, { end: false });
        git.stderr.pipe(channel.stderr, { end: false });
        git.once("close", (code) => {
          channel.exit(code ?? 1);
          channel.end();
        });
      });
    });
  });
  const { port } = await listening(server);
  const [kind, key] = hostKey.public.split(" ");
  return {
    port,
    knownHost: `[127.0.0.1]:${port} ${kind} ${key}\n`,
    commands,
    [Symbol.asyncDispose]: () => new Promise((resolve) => server.close(() => resolve())),
  };
}
