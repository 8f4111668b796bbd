import type { ConfirmationReply } from "@gennai/client/connection/editor";
import { errorMessage } from "@gennai/protocol/error-message";
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { takeLinkCode } from "../hosts/page-link.ts";
import { VisibleText } from "../look/visible-text.tsx";
import { answerLink, type LinkedQuestion, openLink } from "./answer-link.ts";
import { ConfirmationCard } from "./confirmation-card.tsx";

const tokenKey = "gennai.answer";

type State =
  | { readonly at: "door" }
  | { readonly at: "question"; readonly linked: LinkedQuestion }
  | { readonly at: "end"; readonly text: string };

/** The page of one question, for somebody who got a link to it, perhaps on a telephone. It can read and answer this question, no more. */
export function AnswerPage({ page = window }: { readonly page?: Window }) {
  // Before anything else: a code in the address bar can be read by others.
  const code = useMemo(() => takeLinkCode(page), [page]);
  const [state, setState] = useState<State>({ at: "door" });
  const [told, setTold] = useState("");
  const show = (linked: LinkedQuestion): void => {
    // For a reload: the code is used up.
    page.sessionStorage.setItem(tokenKey, linked.token);
    setTold("");
    setState({ at: "question", linked });
  };
  useLayoutEffect(() => {
    const token = page.sessionStorage.getItem(tokenKey);
    if (code !== undefined || token === null) return;
    openLink({ token }).then(show, () => setState({ at: "end", text: "This question is over." }));
  }, []);
  const end = (text: string): void => {
    page.sessionStorage.removeItem(tokenKey);
    setState({ at: "end", text });
  };
  const answer = (linked: LinkedQuestion, reply: ConfirmationReply): void => {
    answerLink(linked, reply).then(
      () => end(reply.answer === "yes" ? "Your yes was taken, for this once." : "Your no was taken."),
      (error: unknown) => end(errorMessage(error)),
    );
  };
  return (
    <main class="answer">
      {state.at === "door" && (
        <Door
          code={code}
          told={told}
          onPin={(pin) =>
            void openLink({ code: code ?? "", pin }).then(show, (error: unknown) => setTold(errorMessage(error)))
          }
        />
      )}
      {state.at === "question" && <Asked linked={state.linked} onAnswer={(reply) => answer(state.linked, reply)} />}
      {state.at === "end" && (
        <div role="status">
          <h1>{state.text}</h1>
          <p>You can close this page.</p>
        </div>
      )}
    </main>
  );
}

function Door({
  code,
  told,
  onPin,
}: {
  readonly code: string | undefined;
  readonly told: string;
  readonly onPin: (pin: string) => void;
}) {
  const [pin, setPin] = useState("");
  if (code === undefined) return <h1>Open this page by the link of a message.</h1>;
  return (
    <form
      class="answer-door"
      onSubmit={(event) => {
        event.preventDefault();
        onPin(pin.trim());
        setPin("");
      }}
    >
      <h1>A question waits for you</h1>
      <label>
        Your PIN
        <input
          class="g-field"
          type="password"
          inputMode="numeric"
          autocomplete="off"
          value={pin}
          onInput={(event) => setPin(event.currentTarget.value)}
        />
      </label>
      <button type="submit" class="button">
        Show it
      </button>
      <p role="status">{told}</p>
    </form>
  );
}

/** A yes is there once the whole change was on the screen. */
function Asked({
  linked,
  onAnswer,
}: {
  readonly linked: LinkedQuestion;
  readonly onAnswer: (reply: ConfirmationReply) => void;
}) {
  const { question, workspace } = linked;
  const { diff } = question;
  const [seen, setSeen] = useState(diff === undefined);
  const shown = useMemo(() => ({ ...question, offeredScopes: seen ? (["once"] as const) : [] }), [question, seen]);
  return (
    <>
      <h1>
        Gennai asks in <VisibleText text={workspace} />
      </h1>
      {diff !== undefined && <WholeDiff diff={diff} onSeen={() => setSeen(true)} />}
      {!seen && <p class="g-quiet">Scroll to the end of the change; then you can keep it.</p>}
      <ConfirmationCard question={shown} onAnswer={onAnswer} unfolded />
    </>
  );
}

function WholeDiff({ diff, onSeen }: { readonly diff: string; readonly onSeen: () => void }) {
  const place = useRef<HTMLPreElement>(null);
  const look = (): void => {
    const element = place.current;
    if (element !== null && element.scrollTop + element.clientHeight >= element.scrollHeight - 4) onSeen();
  };
  useLayoutEffect(look, []);
  return (
    <pre ref={place} class="g-code answer-diff" tabIndex={0} aria-label="What would be kept" onScroll={look}>
      {diff.split("\n").map((line, index) => (
        <VisibleText
          key={index}
          in="div"
          class={`answer-line ${kinds[line.slice(0, 1)] ?? ""}`}
          text={line === "" ? " " : line}
        />
      ))}
    </pre>
  );
}

const kinds: Readonly<Record<string, string>> = { "+": "diff-added", "-": "diff-removed", "@": "g-quiet" };
