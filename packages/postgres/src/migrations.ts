// The PostgreSQL tables, as numbered migrations. Never change a released migration; add another.

/** The first has number 1. */
export const MIGRATIONS: readonly string[] = [
  `
  CREATE TABLE sandbridge.documents (
    owner text NOT NULL,
    name text NOT NULL,
    content text NOT NULL,
    -- Another one with each change, chosen by its writer: shows a writer that lost its connection whether the change was made.
    revision uuid NOT NULL,
    changed_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (owner, name)
  );

  -- Stays when all versions are deleted: a number is never given to a second content, which other bridges may hold in memory.
  CREATE TABLE sandbridge.names (
    owner text NOT NULL,
    kind text NOT NULL,
    name text COLLATE "C" NOT NULL,
    last_version integer NOT NULL,
    PRIMARY KEY (owner, kind, name)
  );

  CREATE TABLE sandbridge.versions (
    owner text NOT NULL,
    kind text NOT NULL,
    name text COLLATE "C" NOT NULL,
    version integer NOT NULL,
    -- Chosen by its writer, as a document's revision is.
    addition uuid NOT NULL UNIQUE,
    PRIMARY KEY (owner, kind, name, version)
  );

  CREATE TABLE sandbridge.version_files (
    owner text NOT NULL,
    kind text NOT NULL,
    name text COLLATE "C" NOT NULL,
    version integer NOT NULL,
    file text NOT NULL,
    content bytea NOT NULL,
    PRIMARY KEY (owner, kind, name, version, file),
    FOREIGN KEY (owner, kind, name, version) REFERENCES sandbridge.versions ON DELETE CASCADE
  );
  -- Uncompressed, so that a piece of a large file is read without the rest of it.
  ALTER TABLE sandbridge.version_files ALTER COLUMN content SET STORAGE EXTERNAL;

  CREATE TABLE sandbridge.logs (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    owner text NOT NULL,
    kind text NOT NULL,
    name text NOT NULL,
    -- Chosen by its writer, as a document's revision is.
    writer uuid NOT NULL,
    bytes bigint NOT NULL DEFAULT 0,
    line_count integer NOT NULL DEFAULT 0,
    changed_at double precision NOT NULL,
    UNIQUE (owner, kind, name)
  );

  CREATE TABLE sandbridge.log_lines (
    log bigint NOT NULL REFERENCES sandbridge.logs ON DELETE CASCADE,
    place integer NOT NULL,
    line text NOT NULL,
    PRIMARY KEY (log, place)
  );
  `,
]
