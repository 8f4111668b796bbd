import { CopyButton } from "../look/copy-button.tsx";
import { failureDetails, failureOf } from "../look/failure.ts";

/** Shown in place of the app if it has no host. */
export function StartFailure({ error }: { readonly error: unknown }) {
  const failure = failureOf(error);
  return (
    <main>
      <div class="welcome" role="alert">
        <h1>Gennai could not start here</h1>
        <p>{failure.message}</p>
        {failure.hint !== "" && <p>{failure.hint}</p>}
        <p>
          <button type="button" class="button" onClick={() => location.reload()}>
            Try again
          </button>{" "}
          <CopyButton text={failureDetails(failure)} label="Copy details" look="link" />
        </p>
      </div>
    </main>
  );
}
