import type { RememberedDevices } from "@gennai/client/host/repl-host";
import { useEffect, useState } from "preact/hooks";
import { failureOf } from "../look/failure.ts";
import { VisibleText } from "../look/visible-text.tsx";

type Listed = Awaited<ReturnType<RememberedDevices["list"]>>;

/** Browsers that come in without a link, so that a bookmark works: this one is remembered, or any is forgotten. */
export function Devices({ devices }: { readonly devices: RememberedDevices }) {
  const [known, setKnown] = useState<{ readonly list: Listed; readonly own: string | undefined }>();
  const [problem, setProblem] = useState("");
  const after = (work: Promise<void>) =>
    work
      .then(async () => setKnown({ list: await devices.list(), own: await devices.own() }))
      .then(
        () => setProblem(""),
        (error: unknown) => setProblem(failureOf(error).message),
      );
  useEffect(() => void after(Promise.resolve()), [devices]);
  const isKnown = known?.list.some(({ id }) => id === known.own) === true;
  return (
    <section class="devices" aria-label="Remembered browsers">
      {known !== undefined && !isKnown && (
        <p>
          <button type="button" class="button button-quiet" onClick={() => void after(devices.remember())}>
            Remember this browser
          </button>{" "}
          <span class="quiet">A bookmark then opens the page without a link, for 30 days.</span>
        </p>
      )}
      {known?.list.map(({ id, name, used }) => (
        <p key={id}>
          <span>{id === known.own ? "This browser" : <VisibleText text={name} />}</span>{" "}
          <span class="quiet">last used {new Date(used).toLocaleString()}</span>{" "}
          <button
            type="button"
            class="link"
            aria-label={`Forget ${id === known.own ? "this browser" : name}`}
            onClick={() => void after(devices.forget(id))}
          >
            Forget
          </button>
        </p>
      ))}
      {problem !== "" && (
        <p class="tone-bad" role="alert">
          {problem}
        </p>
      )}
    </section>
  );
}
