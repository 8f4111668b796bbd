import { ExpectedError } from "@gennai/machine/expected-error";
import type { ShellSandbox } from "./shell-sandbox.ts";

/** How commands of the server are isolated from the machine. */
export type Sandbox =
  | { readonly state: "sandboxed"; readonly reason: string; readonly shell: ShellSandbox }
  | { readonly state: "unsandboxed"; readonly reason: string };

/** The server must not start without a sandbox, and there is none. The message says why and what to install. */
export class SandboxRequired extends ExpectedError {
  override readonly name = "SandboxRequired";
  readonly code = "sandbox_required";
  readonly isWrongInput = true;

  constructor(reason: string, hint: string) {
    super(`Commands have to be staged, but no sandbox is available for that: ${reason}`, { hint });
  }
}
