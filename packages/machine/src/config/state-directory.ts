import { constants } from "node:fs";
import { access, chmod, mkdir, realpath, stat } from "node:fs/promises";
import { platform as currentPlatform, homedir } from "node:os";
import { errorMessage } from "@gennai/protocol/error-message";
import { stateDirectory } from "@gennai/protocol/state-directory";
import { ExpectedError } from "../expected-error.ts";

/** The state directory is nobody else's to write to, or nothing is kept in it. */
class UnsafeStateDirectory extends ExpectedError {
  override readonly name = "UnsafeStateDirectory";
  readonly code = "unsafe_state_directory";
  readonly isWrongInput = false;
}

/** Nothing can be written to the state directory. */
class ReadOnlyStateDirectory extends ExpectedError {
  override readonly name = "ReadOnlyStateDirectory";
  readonly code = "read_only";
  readonly isWrongInput = false;

  constructor(directory: string, cause: unknown) {
    const [reason = ""] = errorMessage(cause).split(",");
    super(
      `The state directory ${directory} cannot be written (${reason}): make it writable, or set GENNAI_STATE_DIR.`,
      {
        cause,
      },
    );
  }
}

/** The state directory of this user. Throws an `ExpectedError` where `GENNAI_STATE_DIR` is not an absolute path. */
export function defaultStateDir(
  environment: Readonly<Record<string, string | undefined>>,
  platform: NodeJS.Platform = currentPlatform(),
  home: string = homedir(),
): string {
  const directory = stateDirectory({ environment, platform, home });
  if (directory !== undefined) return directory;
  const named = JSON.stringify(environment["GENNAI_STATE_DIR"]);
  throw new UnsafeStateDirectory(`GENNAI_STATE_DIR must be an absolute path, not ${named}.`);
}

/**
 * Makes the directory private (0700) and returns its real path. Refuses one that belongs to another user or that others may
 * write to: a user who can replace a key or a log can forge both. And one that cannot be written: what comes later would only
 * say which file it missed.
 */
export async function prepareStateDirectory(directory: string): Promise<string> {
  const refuse = (error: unknown): never => {
    throw new ReadOnlyStateDirectory(directory, error);
  };
  await mkdir(directory, { recursive: true, mode: 0o700 }).catch(refuse);
  const real = await realpath(directory);
  const { uid, mode } = await stat(real);
  const self = process.getuid?.();
  if (self === undefined) return real;
  if (uid !== self) {
    throw new UnsafeStateDirectory(`${real} belongs to another user (uid ${uid}): choose a directory of your own.`);
  }
  if ((mode & 0o022) !== 0) {
    throw new UnsafeStateDirectory(
      `${real} can be written by others: run chmod 700 on it or choose another directory.`,
    );
  }
  await access(real, constants.W_OK).catch(refuse);
  if ((mode & 0o077) !== 0) await chmod(real, 0o700);
  return real;
}
