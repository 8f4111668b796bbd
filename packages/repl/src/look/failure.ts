import { Code, ConnectError } from "@connectrpc/connect";
import { wordsInEditor } from "@gennai/client/session/text/words-in-editor";
import { ErrorInfoSchema } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";

/** What went wrong, for the user. */
export interface Failure {
  readonly message: string;
  /** What to do next; can be empty. */
  readonly hint: string;
  /** Stable code, e.g. `not_found`; for Copy Details. */
  readonly code: string;
}

export function failureOf(error: unknown): Failure {
  if (error instanceof ConnectError) {
    const info = error.findDetails(ErrorInfoSchema)[0];
    const code = info?.code || (Code[error.code] ?? "unknown");
    // The error's own text would repeat the hint at its end.
    const message = wordsInEditor(sentence(info?.message || error.rawMessage));
    return { message, hint: wordsInEditor(info?.hint || hints[error.code] || ""), code };
  }
  const message = error instanceof Error && error.message !== "" ? error.message : "Something went wrong.";
  return { message: sentence(message), hint: "", code: "" };
}

/** All of it as text, for a bug report. */
export function failureDetails({ message, hint, code }: Failure): string {
  return [message, hint, code === "" ? "" : `Code: ${code}`].filter((line) => line !== "").join("\n");
}

function sentence(text: string): string {
  return text === "" ? "Something went wrong." : text;
}

const hints: Partial<Record<Code, string>> = {
  [Code.Unauthenticated]: "Open the page again from the link that the server prints, or reload the window.",
  [Code.PermissionDenied]: "",
  [Code.Unavailable]: "See that the server runs.",
};
