import type { CallOptions, GovernanceClient } from "@gennai/client/connection/connection";
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { CopyButton } from "../look/copy-button.tsx";
import { type Problem, problemOf } from "../look/problem.ts";
import { ProblemNotice } from "../look/problem-notice.tsx";
import { VisibleText } from "../look/visible-text.tsx";

export interface PromptPreviewProps {
  /** The exact system prompt of a turn that would start now (`loadSystemPrompt`). */
  readonly load: (scenario: string, options: CallOptions) => Promise<string>;
  /** Empty: the editing mode's own. */
  readonly scenario: string;
}

export async function loadSystemPrompt(
  client: Pick<GovernanceClient, "previewSystemPrompt">,
  sessionId: string,
  scenario: string,
  options: CallOptions,
): Promise<string> {
  return (await client.previewSystemPrompt({ sessionId, scenario }, options)).prompt;
}

/** The exact text that the model gets before anything else. */
export function PromptPreview({ load, scenario }: PromptPreviewProps) {
  const [prompt, setPrompt] = useState<string>();
  const [problem, setProblem] = useState<Problem>();
  const [tries, setTries] = useState(0);
  const again = useCallback(() => setTries((count) => count + 1), []);
  // The caller may pass a new function each time: that alone is no reason to load again.
  const loader = useRef(load);
  loader.current = load;
  useEffect(() => {
    const over = new AbortController();
    setProblem(undefined);
    loader.current(scenario, { signal: over.signal }).then(setPrompt, (error: unknown) => {
      if (!over.signal.aborted) setProblem(problemOf(error, "Load the system prompt"));
    });
    return () => over.abort();
  }, [scenario, tries]);
  return (
    <section class="prompt-preview g-panel" aria-label="System prompt">
      <header class="g-row">
        <h3>System prompt</h3>
        {prompt !== undefined && (
          <span class="g-quiet">
            {prompt.length.toLocaleString("en")} characters{scenario === "" ? "" : `, scenario ${scenario}`}
          </span>
        )}
        <button type="button" class="button button-quiet" onClick={again}>
          Load again
        </button>
        {prompt !== undefined && <CopyButton text={prompt} label="Copy" />}
      </header>
      {problem !== undefined && <ProblemNotice problem={problem} />}
      {prompt === undefined ? (
        problem === undefined && (
          <p class="empty" role="status">
            Loading…
          </p>
        )
      ) : (
        <VisibleText
          in="pre"
          class="g-code prompt-text"
          tabIndex={0}
          aria-label="The exact system prompt"
          text={prompt}
        />
      )}
    </section>
  );
}
