/** The `E…` code of a system error; undefined for anything else. */
export function systemErrorCode(error: unknown): string | undefined {
  if (!(error instanceof Error) || !("code" in error) || typeof error.code !== "string") return undefined;
  return /^E[A-Z0-9]+$/.test(error.code) ? error.code : undefined;
}

/** For `catch`: this value where a file does not exist; any other error goes on. */
export function ifMissing<Value>(value: Value): (error: unknown) => Value {
  return (error) => {
    if (hasCode(error, "ENOENT")) return value;
    throw error;
  };
}

/** True for an error with this `code`, e.g. one of the file system's. */
export function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}
