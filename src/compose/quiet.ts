export { quietSqlite } from '../stores/sqlite/quiet.ts'
