import type { HostCommand } from "@gennai/client/host/window-requests";
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { ReplControl } from "../control/repl-control.ts";
import { CopyButton } from "../look/copy-button.tsx";
import { type Failure, failureDetails } from "../look/failure.ts";
import { Icon } from "../look/icon.tsx";

/** Problems that prevent working, each with what to do next. */
export function Banners({ control }: { readonly control: ReplControl }) {
  return (
    <>
      <ConnectionBanner control={control} />
      <WatchingBanner control={control} />
      <EmergencyBanner control={control} />
      <FailureBanner control={control} />
    </>
  );
}

function ConnectionBanner({ control }: { readonly control: ReplControl }) {
  const followed = control.followed.value;
  const opening = control.opening.value;
  const following = followed?.following.value;
  const notice = control.serverNotice.value;
  if (following?.state === "failed" && following.failure.code === "session_deleted") {
    return (
      <Banner level="warning" failure={following.failure} what="">
        <button type="button" class="button" onClick={() => control.newSession()}>
          New session
        </button>
      </Banner>
    );
  }
  if (following?.state === "failed") {
    return (
      <Banner level="error" failure={following.failure} what="Cut off from the session">
        <button type="button" class="button" onClick={() => followed?.retry()}>
          Try again
        </button>
        <HomeButtons control={control} />
      </Banner>
    );
  }
  if (following?.state === "reconnecting") {
    return (
      <Banner level="warning" failure={following.failure} what="No connection to the server; what was done is kept">
        <Countdown until={following.retryAt} />
        <button type="button" class="button button-quiet" onClick={() => followed?.retry()}>
          Try now
        </button>
        <HomeButtons control={control} />
      </Banner>
    );
  }
  // The host's notice says more than that a call failed, and offers the step that helps.
  if (opening.state === "retrying" && followed === undefined && notice?.steps === undefined) {
    return (
      <Banner level="warning" failure={opening.failure} what="The server cannot be reached">
        <span class="quiet">Trying again…</span>
        <HomeButtons control={control} />
      </Banner>
    );
  }
  if (notice === undefined) return null;
  return (
    <Banner level="warning" failure={{ message: notice.message, hint: "", code: "" }} what="">
      <HomeButtons control={control} steps={notice.steps} />
    </Banner>
  );
}

function WatchingBanner({ control }: { readonly control: ReplControl }) {
  if (!control.watching.value) return null;
  const message = "Another window works on this workspace. This one only watches.";
  return (
    <Banner level="warning" failure={{ message, hint: "", code: "" }} what="">
      <HomeButtons control={control} steps={["takeOver"]} />
    </Banner>
  );
}

interface HomeButtonsProps {
  readonly control: ReplControl;
  /** undefined: to start a server, and to show the log. */
  readonly steps?: readonly HostCommand[] | undefined;
}

/** Buttons for steps that may help; the most useful first. */
function HomeButtons({ control, steps = ["startServer", "showLog"] }: HomeButtonsProps) {
  const run = control.host.runHostCommand;
  if (run === undefined) return null;
  return (
    <>
      {steps.map((step, index) => (
        <button
          key={step}
          type="button"
          class={index > 0 ? "link" : "button"}
          onClick={() => void run(step).catch((error: unknown) => control.failure.failed("It was not done", error))}
        >
          {stepWords[step]}
        </button>
      ))}
    </>
  );
}

const stepWords: Readonly<Record<HostCommand, string>> = {
  startServer: "Start server",
  showLog: "Show log",
  openSettings: "Open settings",
  openScm: "Source control",
  selectIntent: "Select intent",
  setUpBranch: "Set up branch",
  showAllChanges: "Show all changes",
  setToken: "Enter token",
  openFolder: "Open folder",
  chooseFolder: "Choose folder",
  takeOver: "Take over",
};

function EmergencyBanner({ control }: { readonly control: ReplControl }) {
  const emergency = control.followed.value?.view.value.facts.value.emergency;
  if (emergency === undefined) return null;
  const on = [
    emergency.stopAll ? "everything is stopped: no turn starts" : "",
    emergency.readOnly ? "read-only: nothing is changed" : "",
    emergency.disableHighImpact ? "what is of high risk is refused" : "",
    emergency.blockedTools.length > 0 ? `blocked: ${emergency.blockedTools.join(", ")}` : "",
  ].filter((text) => text !== "");
  if (on.length === 0) return null;
  return (
    <div class="banner banner-error" role="status">
      <Icon name="shield" />
      <div class="banner-text">Emergency control: {on.join("; ")}.</div>
      <button
        type="button"
        class="button button-quiet"
        onClick={() => {
          control.panel.value = "governance";
        }}
      >
        Controls
      </button>
    </div>
  );
}

function FailureBanner({ control }: { readonly control: ReplControl }) {
  const failure = control.failure.value;
  if (failure === undefined) return null;
  return (
    <Banner level="error" failure={failure} what="">
      {failure.code.startsWith("model_") && (
        <button type="button" class="button button-quiet" onClick={() => control.models.open()}>
          Choose a model
        </button>
      )}
      <button type="button" class="tool-button" aria-label="Put away" onClick={() => control.failure.putAway()}>
        <Icon name="close" />
      </button>
    </Banner>
  );
}

interface BannerProps {
  readonly level: "warning" | "error";
  readonly what: string;
  readonly failure: Failure;
  readonly children: ComponentChildren;
}

function Banner({ level, what, failure, children }: BannerProps) {
  return (
    <div class={`banner banner-${level}`} role={level === "error" ? "alert" : "status"}>
      <Icon name={level} />
      <div class="banner-text">
        {what !== "" && <strong>{what}. </strong>}
        {failure.message}
        {failure.hint !== "" && <span class="banner-hint"> {failure.hint}</span>}
      </div>
      <div class="banner-buttons">
        {level === "error" && <CopyButton text={failureDetails(failure)} label="Copy details" look="link" />}
        {children}
      </div>
    </div>
  );
}

function Countdown({ until }: { readonly until: number }) {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 500);
    return () => clearInterval(timer);
  }, []);
  const seconds = Math.ceil((until - now) / 1000);
  return <span class="quiet">{seconds > 0 ? `Next try in ${seconds} s` : "Trying…"}</span>;
}
