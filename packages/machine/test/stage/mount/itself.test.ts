import { testAsUsers } from "../as-users.ts";
import { scenarios } from "./itself-scenarios.ts";

testAsUsers(new URL("itself-scenarios.ts", import.meta.url).href, scenarios, "itself");
