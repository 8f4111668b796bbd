export interface LaunchChoice {
  /** Absolute path; empty: `gennai` of the PATH. */
  readonly serverCommand: string;
  readonly port: number;
  readonly workspace: string;
  readonly sandbox: "auto" | "required" | "off";
  readonly stages: "auto" | "required" | "off";
  readonly protectedBranches: readonly string[];
}

export interface LaunchCommand {
  readonly program: string;
  readonly args: readonly string[];
  /** False: the program is looked up by the user's shell. */
  readonly isPath: boolean;
}

const branchName = /^[A-Za-z0-9][A-Za-z0-9._/*-]*$/;

/** What starts a server. A script is run by Node; names of branches that could be options or shell words are left out. */
export function launchCommand(choice: LaunchChoice): LaunchCommand {
  const args = ["serve", "--port", String(choice.port), "--workspace", choice.workspace];
  if (choice.sandbox !== "auto") args.push("--sandbox", choice.sandbox);
  if (choice.stages !== "auto") args.push("--stages", choice.stages);
  for (const branch of choice.protectedBranches) if (branchName.test(branch)) args.push("--protect", branch);
  if (choice.serverCommand === "") return { program: "gennai", args, isPath: false };
  if (/\.[cm]?js$/.test(choice.serverCommand)) {
    return { program: "node", args: [choice.serverCommand, ...args], isPath: false };
  }
  return { program: choice.serverCommand, args, isPath: true };
}
