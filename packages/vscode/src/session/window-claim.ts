import { link, mkdir, readdir, readFile, rm, stat, utimes, writeFile } from "node:fs/promises";
import { basename, dirname } from "node:path";
import * as z from "zod/mini";

const claimSchema = z.object({ pid: z.int().check(z.positive()), window: z.string() });

/** Milliseconds between signs of life, and without one until a claim no longer counts. */
const heartbeat = 10_000;
const staleAfter = 45_000;

export type ClaimState = { readonly type: "ours" } | { readonly type: "held"; readonly pid: number };

/**
 * One window of a workspace answers the server and runs its commands; all others only watch. The claim is a file in the shared
 * storage that its owner keeps fresh. Each new owner makes the file with the next number, which only one of several windows can
 * do: the highest number counts.
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

  /** Claims the workspace unless a living window has it, and keeps checking until disposed. */
  async begin(): Promise<ClaimState> {
    await mkdir(dirname(this.#path), { recursive: true });
    await this.#look();
    this.#timer ??= setInterval(() => void this.#look().catch(() => undefined), heartbeat);
    return this.#state;
  }

  /** Takes the claim from the window that has it, because the user asked for it. */
  async takeOver(): Promise<void> {
    while (!(await this.#claim((await this.#newest()).number + 1)));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    const { number, holder } = await this.#newest();
    // The file stays, because its number must not be used again.
    if (holder?.window === this.#window) await writeFile(this.#file(number), "");
  }

  async #look(): Promise<void> {
    const { number, holder } = await this.#newest();
    if (holder === undefined) {
      if (!(await this.#claim(number + 1)))
        this.#become({ type: "held", pid: (await this.#newest()).holder?.pid ?? 0 });
    } else if (holder.window === this.#window) {
      const now = new Date();
      await utimes(this.#file(number), now, now);
      this.#become({ type: "ours" });
    } else {
      this.#become({ type: "held", pid: holder.pid });
    }
  }

  /** False if another window was faster. */
  async #claim(number: number): Promise<boolean> {
    const draft = `${this.#path}.${this.#window}`;
    await writeFile(draft, JSON.stringify({ pid: process.pid, window: this.#window }), { mode: 0o600 });
    try {
      // The whole file appears at once, or not at all.
      await link(draft, this.#file(number));
    } catch (error) {
      if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
      return false;
    } finally {
      await rm(draft, { force: true });
    }
    for (const older of await this.#numbers()) if (older < number) await rm(this.#file(older), { force: true });
    this.#become({ type: "ours" });
    return true;
  }

  /** The highest number, and its owner if that window lives. */
  async #newest(): Promise<{ readonly number: number; readonly holder: z.infer<typeof claimSchema> | undefined }> {
    const number = Math.max(0, ...(await this.#numbers()));
    return { number, holder: number === 0 ? undefined : await livingHolder(this.#file(number)) };
  }

  async #numbers(): Promise<readonly number[]> {
    const prefix = `${basename(this.#path)}.`;
    const names = await readdir(dirname(this.#path));
    const ends = names.filter((name) => name.startsWith(prefix)).map((name) => name.slice(prefix.length));
    return ends.filter((end) => /^[1-9][0-9]*$/.test(end)).map(Number);
  }

  #file(number: number): string {
    return `${this.#path}.${number}`;
  }

  #become(state: ClaimState): void {
    if (state.type === this.#state.type && (state.type === "ours" || state.pid === pidOf(this.#state))) return;
    this.#state = state;
    this.#onChange(state);
  }
}

async function livingHolder(file: string): Promise<z.infer<typeof claimSchema> | undefined> {
  try {
    const { mtimeMs } = await stat(file);
    if (Date.now() - mtimeMs > staleAfter) return undefined;
    const claim = claimSchema.parse(JSON.parse(await readFile(file, "utf8")));
    process.kill(claim.pid, 0);
    return claim;
  } catch {
    return undefined;
  }
}

function pidOf(state: ClaimState): number | undefined {
  return state.type === "held" ? state.pid : undefined;
}
