import type { ConfirmationQuestion } from "@gennai/client/connection/editor";
import { wordsInEditor } from "@gennai/client/session/text/words-in-editor";
import type { OfferedPattern } from "@gennai/protocol/model/governance/question";
import { useId } from "preact/hooks";
import { VisibleText } from "../look/visible-text.tsx";

export interface RememberChoiceProps {
  readonly question: Pick<ConfirmationQuestion, "rememberStatement" | "patterns" | "offeredScopes">;
  /** Id of the chosen pattern; undefined: the exact action. */
  readonly pattern: string | undefined;
  readonly onPattern: (pattern: string | undefined) => void;
}

/** What a lasting yes holds for: the exact action, unless a person widens it. */
export function RememberChoice({ question, pattern, onPattern }: RememberChoiceProps) {
  const name = useId();
  const { patterns = [], offeredScopes } = question;
  const rememberStatement = wordsInEditor(question.rememberStatement);
  if (!offeredScopes.some((scope) => scope !== "once")) return null;
  if (patterns.length === 0) {
    return rememberStatement === "" ? null : (
      <p class="g-quiet">
        <VisibleText text={rememberStatement} />
      </p>
    );
  }
  return (
    <fieldset class="remember">
      <legend>A yes for the turn or session holds for</legend>
      <label>
        <input type="radio" name={name} checked={pattern === undefined} onChange={() => onPattern(undefined)} />
        <span>this exact action, and no other</span>
      </label>
      {patterns.map((offered) => (
        <div key={offered.id}>
          <label>
            <input type="radio" name={name} checked={pattern === offered.id} onChange={() => onPattern(offered.id)} />
            <span>
              everything like{" "}
              <code>
                <VisibleText text={offered.text} />
              </code>
            </span>
          </label>
          {pattern === offered.id && <Reach pattern={offered} />}
        </div>
      ))}
    </fieldset>
  );
}

function Reach({ pattern }: { readonly pattern: OfferedPattern }) {
  return (
    <dl class="g-facts remember-reach">
      <Examples name="Rule" examples={[pattern.rule]} />
      <Examples name="Covered before" examples={pattern.matchedBefore} />
      <Examples name="Would cover" examples={pattern.wouldMatch} />
      <Examples name="Never covers" examples={pattern.wouldNotMatch} />
    </dl>
  );
}

function Examples({ name, examples }: { readonly name: string; readonly examples: readonly string[] }) {
  if (examples.length === 0) return null;
  return (
    <div>
      <dt>{name}</dt>
      {examples.map((example) => (
        <dd key={example}>
          <code>
            <VisibleText text={example} />
          </code>
        </dd>
      ))}
    </div>
  );
}
