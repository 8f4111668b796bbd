import { mkdir, open, readFile, rm, stat, utimes } from "node:fs/promises";
import { dirname } from "node:path";
import * as z from "zod/mini";

const claimSchema = z.object({ pid: z.int().check(z.positive()), window: z.string() });

/** Milliseconds between signs of life, and without one until a claim counts for nothing. */
const heartbeat = 10_000;
const staleAfter = 45_000;

export type ClaimState = { readonly type: "ours" } | { readonly type: "held"; readonly pid: number };

/**
 * One window of a workspace answers the server and runs its commands; any other only watches. The claim is a file in the
 * workspace's storage that its owner keeps fresh.
 */
export class WindowClaim implements AsyncDisposable {
  readonly #path: string;
  readonly #onChange: (state: ClaimState) => void;
  readonly #window = crypto.randomUUID();
  #state: ClaimState = { type: "held", pid: 0 };
  #timer: ReturnType<typeof setInterval> | undefined;

  constructor(path: string, onChange: (state: ClaimState) => void) {
    this.#path = path;
    this.#onChange = onChange;
  }

  get state(): ClaimState {
    return this.#state;
  }

  /** Claims the workspace unless a living window has it, and goes on looking until disposed. */
  async begin(): Promise<ClaimState> {
    await mkdir(dirname(this.#path), { recursive: true });
    await this.#look();
    this.#timer ??= setInterval(() => void this.#look().catch(() => undefined), heartbeat);
    return this.#state;
  }

  /** Takes the claim from whoever has it: a person said so. */
  async takeOver(): Promise<void> {
    await rm(this.#path, { force: true });
    await this.#look();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    if ((await this.#holder())?.window === this.#window) await rm(this.#path, { force: true });
  }

  async #look(): Promise<void> {
    const holder = await this.#holder();
    if (holder === undefined) {
      await rm(this.#path, { force: true });
      await this.#write();
    } else if (holder.window === this.#window) {
      const now = new Date();
      await utimes(this.#path, now, now);
      this.#become({ type: "ours" });
    } else {
      this.#become({ type: "held", pid: holder.pid });
    }
  }

  async #write(): Promise<void> {
    try {
      await using file = await open(this.#path, "wx", 0o600);
      await file.writeFile(JSON.stringify({ pid: process.pid, window: this.#window }));
      this.#become({ type: "ours" });
    } catch (error) {
      if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
      this.#become({ type: "held", pid: (await this.#holder())?.pid ?? 0 });
    }
  }

  /** Who holds the claim and lives. */
  async #holder(): Promise<z.infer<typeof claimSchema> | undefined> {
    try {
      const { mtimeMs } = await stat(this.#path);
      if (Date.now() - mtimeMs > staleAfter) return undefined;
      const claim = claimSchema.parse(JSON.parse(await readFile(this.#path, "utf8")));
      process.kill(claim.pid, 0);
      return claim;
    } catch {
      return undefined;
    }
  }

  #become(state: ClaimState): void {
    if (state.type === this.#state.type && (state.type === "ours" || state.pid === pidOf(this.#state))) return;
    this.#state = state;
    this.#onChange(state);
  }
}

function pidOf(state: ClaimState): number | undefined {
  return state.type === "held" ? state.pid : undefined;
}
