// Runs inside the extension host, where vitest is not.

type Body = () => void | Promise<void>;

const registered: { readonly name: string; readonly body: Body }[] = [];

/** How one test ended, as it crosses the console: after the mark, as JSON. */
export interface HostResult {
  readonly name: string;
  readonly milliseconds: number;
  /** Absent when it passed. */
  readonly failure?: string;
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
    const failure = await failureOf(body);
    const milliseconds = Math.round(performance.now() - began);
    const result: HostResult = { name, milliseconds, ...(failure === undefined ? {} : { failure }) };
    console.log(`${resultMark}${JSON.stringify(result)}`);
  }
  console.log(`${resultMark}${registered.length}`);
}

const timeoutMs = 30_000;

async function failureOf(body: Body): Promise<string | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`It did not end within ${timeoutMs / 1000} s.`)), timeoutMs);
  });
  try {
    await Promise.race([body(), late]);
    return undefined;
  } catch (error) {
    return error instanceof Error ? (error.stack ?? error.message) : String(error);
  } finally {
    clearTimeout(timer);
  }
}
