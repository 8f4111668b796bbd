import type { CheckedCall } from "@gennai/client/governance/rules";
import { useState } from "preact/hooks";
import { VisibleText } from "../look/visible-text.tsx";

export interface TryCommandProps {
  readonly tried: { readonly command: string; readonly answer: CheckedCall } | undefined;
  readonly busy: boolean;
  readonly onTry: (command: string) => void;
}

/** The verdict of all rules on a command, as with `gennai policy check`. The command does not run. */
export function TryCommand({ tried, busy, onTry }: TryCommandProps) {
  const [command, setCommand] = useState("");
  return (
    <form
      class="try-command"
      onSubmit={(event) => {
        event.preventDefault();
        if (command.trim() !== "") onTry(command);
      }}
    >
      <input
        class="g-field"
        aria-label="Command to try against the rules"
        placeholder="Try a command (it is not run)"
        value={command}
        spellcheck={false}
        onInput={(event) => setCommand(event.currentTarget.value)}
      />
      <button type="submit" class="g-button" disabled={busy || command.trim() === ""}>
        Try
      </button>
      {tried !== undefined && (
        <div class={`try-answer try-${tried.answer.outcome}`} role="status">
          <p>
            <VisibleText in="code" text={tried.command} /> <strong>{outcomes[tried.answer.outcome]}</strong>
            <span class="g-quiet"> {tried.answer.risk} risk</span>
          </p>
          {tried.answer.rules.length > 0 && (
            <ul>
              {tried.answer.rules.map(({ rule, verdict, reason }) => (
                <li key={`${rule} ${reason}`}>
                  {verdict === "deny" ? "refused" : "asked"} by <code>{rule}</code>: <VisibleText text={reason} />
                </li>
              ))}
            </ul>
          )}
        </div>
      )}
    </form>
  );
}

const outcomes: Readonly<Record<CheckedCall["outcome"], string>> = {
  allow: "runs without a question",
  staged: "runs on a copy: what it changes is judged before any of it is kept",
  ask: "asks you",
  deny: "is refused",
};
