const settings = {
  // Reached by TCP from this machine only. A socket file would limit the length of the path and would be a second way
  // in.
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  ssl: 'off',

  max_connections: 200,
  shared_buffers: '128MB',
  timezone: 'UTC',

  // Errors reach the client, which logs what it wants. Their texts quote values of customers, so the server's own log
  // holds only its starts, stops, crashes and refused logins.
  log_min_messages: 'log',
  log_min_error_statement: 'panic',
  log_error_verbosity: 'terse',
  log_parameter_max_length: 0,
  log_parameter_max_length_on_error: 0,
  log_statement: 'none',
  log_min_duration_statement: -1,

  log_destination: 'stderr',
  logging_collector: 'off',
  log_checkpoints: 'off',
  log_autovacuum_min_duration: -1,
  log_timezone: 'UTC',
  log_line_prefix: '%m [%p] ',
} as const;

/** Arguments for `postgres`. They override postgresql.conf, so this file decides how every start behaves. */
export function serverArguments(clusterName: string, port: number, maxConnections?: number): string[] {
  const more = maxConnections !== undefined && { max_connections: maxConnections };
  const all = { ...settings, ...more, cluster_name: clusterName, port };
  return Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
}
