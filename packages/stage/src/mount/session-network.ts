import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { closeSync, openSync, readlinkSync } from "node:fs";
import { text } from "node:stream/consumers";
import { startProcess } from "@gennai/machine/process/start-process";
import { errorMessage } from "@gennai/protocol/error-message";
import { StageUnavailable } from "../transaction/stage-error.ts";

/**
 * A network namespace with a loopback and no way out, for commands that have to reach each other. Only two descriptors of this
 * process and the processes inside hold it: it is gone when these are, whatever ends them.
 */
export class SessionNetwork implements Disposable {
  /** Unique in this process. */
  readonly id = randomUUID();
  readonly #user: number;
  readonly #net: number;
  #closed = false;

  private constructor(user: number, net: number) {
    this.#user = user;
    this.#net = net;
  }

  /** Throws `StageUnavailable` (`no_user_namespaces`). @param bubblewrap absolute path */
  static async open(bubblewrap: string): Promise<SessionNetwork> {
    // Bubblewrap brings the loopback up, so no other program is needed.
    const child = startProcess(
      bubblewrap,
      [
        ...["--unshare-user", "--uid", "0", "--gid", "0", "--unshare-net", "--die-with-parent", "--ro-bind", "/", "/"],
        ...["/bin/sh", "-c", "echo $$; read -r end"],
      ],
      { cwd: "/", env: { PATH: "/usr/bin:/bin", LC_ALL: "C" }, stdio: "pipe", detached: true },
    );
    const { stdin, stdout, stderr } = child;
    const gone = once(child, "exit").catch(() => undefined);
    stdin.on("error", () => undefined);
    const complaint = text(stderr);
    const held: number[] = [];
    try {
      for await (const line of stdout.iterator({ destroyOnReturn: false })) {
        const id = Number(String(line));
        for (const name of ["user", "net"] as const) {
          held.push(openSync(`/proc/${id}/ns/${name}`, "r"));
          // It must never be the network of this machine.
          if (here(name) === named(held.at(-1))) throw new Error(`It has no ${name} namespace of its own.`);
        }
        break;
      }
      const [user, net] = held;
      if (user === undefined || net === undefined) throw new Error((await complaint).slice(0, 300));
      held.length = 0;
      return new SessionNetwork(user, net);
    } catch (error) {
      const reason = errorMessage(error);
      throw new StageUnavailable(
        "no_user_namespaces",
        `The system lets no network of a session be made: ${reason}`,
        "Run gennai doctor, which says how commands can be staged on this machine.",
        error,
      );
    } finally {
      for (const descriptor of held) closeSync(descriptor);
      stdin.end();
      await gone;
    }
  }

  /** Arguments of `nsenter` that put a child process into this network. */
  get joinArguments(): readonly string[] {
    if (this.#closed) throw new Error("The network of the session is closed.");
    const descriptors = `/proc/${process.pid}/fd`;
    return [`--user=${descriptors}/${this.#user}`, `--net=${descriptors}/${this.#net}`, "--preserve-credentials"];
  }

  /** Gives up the network; it is gone when the last process in it has ended. */
  [Symbol.dispose](): void {
    if (this.#closed) return;
    this.#closed = true;
    closeSync(this.#user);
    closeSync(this.#net);
  }
}

function here(name: string): string {
  return readlinkSync(`/proc/self/ns/${name}`);
}

function named(descriptor: number | undefined): string {
  return readlinkSync(`/proc/self/fd/${descriptor}`);
}
