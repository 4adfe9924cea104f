"""Models out to other engines and in from other projects, each way held to the numbers of this one."""
