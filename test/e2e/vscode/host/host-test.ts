// Runs inside the extension host, where vitest is not.

/** What it gives, if anything, is told beside its name, e.g. a measure. */
type Body = () => void | string | Promise<void | string>;

const registered: { readonly name: string; readonly body: Body }[] = [];

/** How one test ended, as it crosses the console: after the mark, as JSON. */
export interface HostResult {
  readonly name: string;
  readonly milliseconds: number;
  /** Absent when it passed. */
  readonly failure?: string;
  readonly note?: string;
}

export const resultMark = "host-test-result ";

/** A test that sees the real `vscode` API. They run in the order they were written down. */
export function hostTest(name: string, body: Body): void {
  registered.push({ name, body });
}

/** What VS Code calls. Never rejects for a test that failed: its result says so. */
export async function run(): Promise<void> {
  for (const { name, body } of registered) {
    const began = performance.now();
    const outcome = await outcomeOf(body);
    const result: HostResult = { name, milliseconds: Math.round(performance.now() - began), ...outcome };
    console.log(`${resultMark}${JSON.stringify(result)}`);
  }
  console.log(`${resultMark}${registered.length}`);
}

const timeoutMs = 90_000;

async function outcomeOf(body: Body): Promise<Pick<HostResult, "failure" | "note">> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`It did not end within ${timeoutMs / 1000} s.`)), timeoutMs);
  });
  try {
    const note = await Promise.race([body(), late]);
    return typeof note === "string" ? { note } : {};
  } catch (error) {
    return { failure: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  } finally {
    clearTimeout(timer);
  }
}
