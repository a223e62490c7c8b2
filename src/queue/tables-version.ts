import packageJson from 'pg-boss/package.json' with { type: 'json' };

const { pgboss: tables } = packageJson;

/** The number of the queue's tables that this program works with. */
export const queueTablesVersion: number = tables.schema;
