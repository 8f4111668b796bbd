import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { keychainCommand } from "@gennai/machine/config/keychain";
import type { Provider } from "@gennai/protocol/model/session/backend";
import { generalKeyVariable, providers } from "../providers.ts";
import { HandedKeys } from "./handed-keys.ts";
import type { KeyDestination } from "./key-destination.ts";

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
 * the system's keychain (service `gennai`, account the backend's name). Project files are never looked at. No key goes to an
 * address that it was not meant for.
 */
export class ModelKeys {
  readonly #environment: Readonly<Record<string, string | undefined>>;
  readonly #platform: NodeJS.Platform;
  readonly #run: RunProgram;
  readonly #onKey: (key: string) => void;
  readonly #handed = new HandedKeys();
  readonly #keychain = new Map<string, Promise<string | undefined>>();

  constructor(options: {
    readonly environment: Readonly<Record<string, string | undefined>>;
    readonly platform: NodeJS.Platform;
    readonly run?: RunProgram;
    /** Told about every key before it is used, so that it is masked wherever it turns up. */
    readonly onKey?: (key: string) => void;
  }) {
    this.#environment = options.environment;
    this.#platform = options.platform;
    this.#onKey = options.onKey ?? (() => undefined);
    this.#run = options.run ?? ((program, args, { timeout }) => run(program, [...args], { timeout }));
  }

  /** Keeps a key in memory, for this backend at this address alone; an empty one forgets it. */
  hand(backend: Provider, baseUrl: string, key: string): void {
    this.#handed.hand(backend, baseUrl, key);
    if (key !== "") this.#onKey(key);
  }

  /** undefined: nobody has one that may go there. */
  async find(backend: Provider, place: KeyDestination): Promise<string | undefined> {
    const key = await this.#look(backend, place);
    if (key !== undefined) this.#onKey(key);
    return key;
  }

  /** Whether a key is available that may be sent there. Only checks that the keychain has it: nothing is unlocked. */
  async has(backend: Provider, place: KeyDestination): Promise<boolean> {
    if (this.#handed.find(backend, place) !== undefined) return true;
    if (!place.takesServersKeys) return false;
    if (this.#inEnvironment(backend, place) !== undefined) return true;
    return (
      providers[backend].needsKey &&
      (this.#keychain.has(backend) || (await this.#runKeychain(backend, "presence")) !== undefined)
    );
  }

  /** A key of something that is no model, by its name in the keychain; undefined: nobody has it. */
  async findOther(account: string, variables: readonly string[]): Promise<string | undefined> {
    const key = this.#fromEnvironment(variables) ?? (await this.#askKeychain(account));
    if (key !== undefined) this.#onKey(key);
    return key;
  }

  async #look(backend: Provider, place: KeyDestination): Promise<string | undefined> {
    const handed = this.#handed.find(backend, place);
    if (handed !== undefined || !place.takesServersKeys) return handed;
    // Only providers that need a key are worth a question that the system may put to the user.
    const known = this.#inEnvironment(backend, place);
    return known ?? (providers[backend].needsKey ? this.#askKeychain(backend) : undefined);
  }

  #inEnvironment(backend: Provider, { takesGeneralKey }: KeyDestination): string | undefined {
    const { keyVariables } = providers[backend];
    return this.#fromEnvironment(takesGeneralKey ? [generalKeyVariable, ...keyVariables] : keyVariables);
  }

  #fromEnvironment(variables: readonly string[]): string | undefined {
    for (const name of variables) {
      const value = this.#environment[name]?.trim();
      if (value !== undefined && value !== "") return value;
    }
    return undefined;
  }

  #askKeychain(account: string): Promise<string | undefined> {
    let asked = this.#keychain.get(account);
    if (asked === undefined) {
      asked = this.#runKeychain(account, "key");
      this.#keychain.set(account, asked);
      // A keychain that was locked may be open the next time.
      void asked.then((key) => key === undefined && this.#keychain.delete(account));
    }
    return asked;
  }

  /** What it printed; undefined where there is nothing. */
  async #runKeychain(account: string, wanted: "key" | "presence"): Promise<string | undefined> {
    const command = keychainCommand(this.#platform, account, wanted);
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
