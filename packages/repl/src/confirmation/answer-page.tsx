import type { ConfirmationReply } from "@gennai/client/connection/editor";
import { shownAction } from "@gennai/client/questions/shown-action";
import { errorMessage } from "@gennai/protocol/error-message";
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { takeLinkCode } from "../hosts/page-link.ts";
import { VisibleText } from "../look/visible-text.tsx";
import { answerLink, type LinkedQuestion, LinkRefused, openLink } from "./answer-link.ts";
import { ConfirmationCard } from "./confirmation-card.tsx";
import { PartsChoice } from "./parts-choice.tsx";

const tokenKey = "gennai.answer";

type State =
  | { readonly at: "door" }
  | { readonly at: "lost" }
  | { readonly at: "question"; readonly linked: LinkedQuestion; readonly tries: number }
  | { readonly at: "end"; readonly text: string };

/** The page of one question, for somebody who got a link to it, perhaps on a telephone. It can read and answer this question, no more. */
export function AnswerPage({ page = window }: { readonly page?: Window }) {
  // Before anything else: a code in the address bar can be read by others.
  const [code, setCode] = useState(() => takeLinkCode(page));
  useLayoutEffect(() => {
    const another = (): void => setCode((before) => takeLinkCode(page) ?? before);
    page.addEventListener("hashchange", another);
    return () => page.removeEventListener("hashchange", another);
  }, [page]);
  return <Visit key={code} page={page} code={code} />;
}

/** From the door of one link to the end of its question. */
function Visit({ page, code }: { readonly page: Window; readonly code: string | undefined }) {
  const [state, setState] = useState<State>({ at: "door" });
  const [told, setTold] = useState("");
  const isHere = useRef(true);
  const go = (to: State, words = ""): void => {
    // Another link was opened meanwhile.
    if (!isHere.current) return;
    // For a reload: the code is used up.
    if (to.at === "question") page.sessionStorage.setItem(tokenKey, to.linked.token);
    if (to.at === "end") page.sessionStorage.removeItem(tokenKey);
    setTold(words);
    setState(to);
  };
  const show = (linked: LinkedQuestion): void => go({ at: "question", linked, tries: 0 });
  const reopen = (): void => {
    const token = page.sessionStorage.getItem(tokenKey);
    if (token === null) return;
    openLink({ token }).then(show, (error: unknown) =>
      go(isFinal(error) ? { at: "end", text: "This question is over." } : { at: "lost" }, errorMessage(error)),
    );
  };
  useLayoutEffect(() => {
    if (code === undefined) reopen();
    else page.sessionStorage.removeItem(tokenKey);
    return () => {
      isHere.current = false;
    };
  }, []);
  const answer = (linked: LinkedQuestion, tries: number, reply: ConfirmationReply): void => {
    answerLink(linked, reply).then(
      () =>
        go({ at: "end", text: reply.answer === "yes" ? "Your yes was taken, for this once." : "Your no was taken." }),
      (error: unknown) => {
        const text = errorMessage(error);
        go(isFinal(error) ? { at: "end", text } : { at: "question", linked, tries: tries + 1 }, text);
      },
    );
  };
  return (
    <main class="answer">
      {state.at === "door" && (
        <Door
          code={code}
          told={told}
          onPin={(pin) =>
            void openLink({ code: code ?? "", pin }).then(show, (error: unknown) => go(state, errorMessage(error)))
          }
        />
      )}
      {state.at === "lost" && (
        <>
          <div role="status">
            <h1>{told}</h1>
          </div>
          <button type="button" class="button" onClick={reopen}>
            Try again
          </button>
        </>
      )}
      {state.at === "question" && (
        <Asked
          linked={state.linked}
          tries={state.tries}
          told={told}
          onAnswer={(reply) => answer(state.linked, state.tries, reply)}
        />
      )}
      {state.at === "end" && (
        <div role="status">
          <h1>{state.text}</h1>
          <p>You can close this page.</p>
        </div>
      )}
    </main>
  );
}

function isFinal(error: unknown): boolean {
  return error instanceof LinkRefused && error.isFinal;
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
        if (pin.trim() !== "") onPin(pin.trim());
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
          required
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

/** A yes can be given once the whole change, or the whole action, was on the screen. */
function Asked({
  linked,
  tries,
  told,
  onAnswer,
}: {
  readonly linked: LinkedQuestion;
  /** Answers that did not arrive. */
  readonly tries: number;
  readonly told: string;
  readonly onAnswer: (reply: ConfirmationReply) => void;
}) {
  const { question, workspace } = linked;
  // All parts or none: here is no choice among them.
  const { parts, ...whole } = question;
  const { diff } = question;
  const [seen, setSeen] = useState(false);
  const text = useMemo(() => diff ?? actionText(question), [question]);
  return (
    <>
      <h1>
        Gennai asks in <VisibleText text={workspace} />
      </h1>
      {parts !== undefined && <PartsChoice parts={parts} />}
      <Whole
        name={diff === undefined ? "What would be done" : "What would be kept"}
        text={text}
        isDiff={diff !== undefined}
        onSeen={() => setSeen(true)}
      />
      {/* It keeps its place: nothing moves under a finger. */}
      <p class={seen ? "answer-hint answer-read" : "answer-hint"}>Scroll to its end, then you can say yes.</p>
      {told !== "" && <p role="alert">{told}</p>}
      <ConfirmationCard key={tries} question={whole} onAnswer={onAnswer} unread={!seen} unfolded={diff !== undefined} />
    </>
  );
}

/** What an action that has not run yet would do, without what JSON escapes. */
function actionText({ actionJson }: LinkedQuestion["question"]): string {
  const { command, cwd, arguments: others } = shownAction(actionJson);
  return [
    ...(command === undefined ? [] : [command]),
    ...(cwd === "" ? [] : [`in ${cwd}`]),
    ...others.map(({ name, value }) => (value.includes("\n") ? `${name}:\n${value}` : `${name}: ${value}`)),
  ].join("\n");
}

function Whole({
  name,
  text,
  isDiff,
  onSeen,
}: {
  readonly name: string;
  readonly text: string;
  readonly isDiff: boolean;
  readonly onSeen: () => void;
}) {
  const place = useRef<HTMLPreElement>(null);
  const look = (): void => {
    const element = place.current;
    if (element !== null && element.scrollTop + element.clientHeight >= element.scrollHeight - 4) onSeen();
  };
  useLayoutEffect(look, []);
  return (
    <pre ref={place} class="g-code answer-diff" tabIndex={0} aria-label={name} onScroll={look}>
      {text.split("\n").map((line, index) => (
        <VisibleText
          key={index}
          in="div"
          class={`answer-line ${(isDiff && kinds[line.slice(0, 1)]) || ""}`}
          text={line === "" ? " " : line}
        />
      ))}
    </pre>
  );
}

const kinds: Readonly<Record<string, string>> = { "+": "diff-added", "-": "diff-removed", "@": "g-quiet" };
