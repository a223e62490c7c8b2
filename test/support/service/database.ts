import { randomUUID } from 'node:crypto';
import { openConnection } from '../../../db/connection/database.ts';
import { until } from '../until.ts';

export interface TestDatabase {
  url: string;
  drop(): Promise<void>;
}

/**
 * A database of the test file's own, cloned from the migrated template in a fraction of a second.
 *
 * @param templateUrl another database to clone, which nobody is connected to
 */
export async function createTestDatabase(templateUrl = process.env.TEST_DATABASE_URL!): Promise<TestDatabase> {
  const template = new URL(templateUrl);
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  // On a busy machine autovacuum may still look at the template (SQLSTATE 55006).
  const cloned = () =>
    onServer(template, `create database ${name} template ${template.pathname.slice(1)} strategy file_copy`).then(
      () => true,
      (error: { code?: string }) => {
        if (error.code !== '55006') throw error;
      },
    );
  await until(cloned);
  const url = new URL(template);
  url.pathname = `/${name}`;
  return { url: url.href, drop: () => onServer(template, `drop database if exists ${name} with (force)`) };
}

async function onServer(template: URL, statement: string): Promise<void> {
  const maintenance = new URL(template);
  maintenance.pathname = '/postgres';
  const connection = openConnection(maintenance.href);
  await connection.connect();
  try {
    await connection.query(statement);
  } finally {
    await connection.end();
  }
}
