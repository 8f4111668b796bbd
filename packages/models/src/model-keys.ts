import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { Provider } from "@gennai/protocol/model/backend";
import { providers } from "./providers.ts";

const run = promisify(execFile);

/** Milliseconds a keychain may take: it may ask the user to unlock it. */
const keychainTimeout = 60_000;

/** Runs a program of the system; tests put their own in its place. */
export type RunProgram = (
  program: string,
  args: readonly string[],
  options: { readonly timeout: number },
) => Promise<{ readonly stdout: string }>;

/**
 * Where models find their keys, in this order: what a client handed over for as long as the server runs, the environment,
 * the system's keychain (service `gennai`, account the backend's name). Project files are never looked at.
 */
export class ModelKeys {
  readonly #environment: Readonly<Record<string, string | undefined>>;
  readonly #platform: NodeJS.Platform;
  readonly #run: RunProgram;
  readonly #onKey: (key: string) => void;
  readonly #handed = new Map<Provider, string>();
  readonly #keychain = new Map<Provider, Promise<string | undefined>>();

  constructor(options: {
    readonly environment: Readonly<Record<string, string | undefined>>;
    readonly platform: NodeJS.Platform;
    readonly run?: RunProgram;
    /** Told of every key before it is used, so that it is masked wherever it turns up. */
    readonly onKey?: (key: string) => void;
  }) {
    this.#environment = options.environment;
    this.#platform = options.platform;
    this.#onKey = options.onKey ?? (() => undefined);
    this.#run = options.run ?? ((program, args, { timeout }) => run(program, [...args], { timeout }));
  }

  /** Keeps a key in memory, for this backend alone; an empty one forgets it. */
  hand(backend: Provider, key: string): void {
    if (key === "") this.#handed.delete(backend);
    else this.#handed.set(backend, key);
    if (key !== "") this.#onKey(key);
  }

  /** undefined: nobody has it. */
  async find(backend: Provider): Promise<string | undefined> {
    const key = await this.#look(backend);
    if (key !== undefined) this.#onKey(key);
    return key;
  }

  async #look(backend: Provider): Promise<string | undefined> {
    const handed = this.#handed.get(backend);
    if (handed !== undefined) return handed;
    for (const name of providers[backend].keyVariables) {
      const value = this.#environment[name]?.trim();
      if (value !== undefined && value !== "") return value;
    }
    // Only providers that need a key are worth a question that the system may put to the user.
    if (!providers[backend].needsKey) return undefined;
    let asked = this.#keychain.get(backend);
    if (asked === undefined) {
      asked = this.#fromKeychain(backend);
      this.#keychain.set(backend, asked);
      // A keychain that was locked may be open the next time.
      void asked.then((key) => key === undefined && this.#keychain.delete(backend));
    }
    return asked;
  }

  async #fromKeychain(backend: Provider): Promise<string | undefined> {
    const command = keychainCommand(this.#platform, backend);
    if (command === undefined) return undefined;
    try {
      const { stdout } = await this.#run(command.program, command.args, { timeout: keychainTimeout });
      const key = stdout.trim();
      return key === "" ? undefined : key;
    } catch {
      // No such program, no such entry, or the user said no: all mean that there is no key here.
      return undefined;
    }
  }
}

function keychainCommand(
  platform: NodeJS.Platform,
  backend: Provider,
): { readonly program: string; readonly args: readonly string[] } | undefined {
  switch (platform) {
    case "linux":
      return { program: "secret-tool", args: ["lookup", "service", "gennai", "account", backend] };
    case "darwin":
      return { program: "security", args: ["find-generic-password", "-s", "gennai", "-a", backend, "-w"] };
    default:
      return undefined;
  }
}
