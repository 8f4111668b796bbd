import { testAsUsers } from "../as-users.ts";
import { scenarios } from "./itself-scenarios.ts";

testAsUsers({ file: new URL("itself-scenarios.ts", import.meta.url).href, scenarios }, { stagedBy: "itself" });
