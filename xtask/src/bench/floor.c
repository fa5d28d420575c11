/* The least that a loop can do in each iteration: start the agent with three pipes, hand it its prompt, keep what it
 * prints, wait for its end, and make one record durable.
 *
 *   cc -static -O2 floor.c -o floor && ./floor LOG ITERATIONS PROGRAM [ARGUMENT...]
 *
 * Prints the seconds that one iteration took. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static void need(int done, const char *what) {
    if (!done) {
        perror(what);
        exit(1);
    }
}

static void keep(int log, const char *bytes, size_t length) {
    need(write(log, bytes, length) == (ssize_t)length, "write");
}

static void read_all(int end, int log) {
    char buffer[8192];
    ssize_t got;
    while ((got = read(end, buffer, sizeof buffer)) > 0)
        keep(log, buffer, got);
    close(end);
}

static void iteration(int log, char **command) {
    static const char prompt[] = "make the tests pass", record[4096];
    int in[2], out[2], err[2], status;
    need(!pipe2(in, O_CLOEXEC) && !pipe2(out, O_CLOEXEC) && !pipe2(err, O_CLOEXEC), "pipe2");
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in[0], 0);
    posix_spawn_file_actions_adddup2(&actions, out[1], 1);
    posix_spawn_file_actions_adddup2(&actions, err[1], 2);
    pid_t pid;
    need(!posix_spawn(&pid, command[0], &actions, NULL, command, environ), command[0]);
    posix_spawn_file_actions_destroy(&actions);
    close(in[0]), close(out[1]), close(err[1]);
    /* It need not read its prompt. */
    ssize_t ignored = write(in[1], prompt, sizeof prompt - 1);
    (void)ignored;
    close(in[1]);
    read_all(out[0], log);
    read_all(err[0], log);
    need(waitpid(pid, &status, 0) == pid, "waitpid");
    keep(log, record, sizeof record);
    need(!fdatasync(log), "fdatasync");
}

int main(int count, char **args) {
    struct timespec began, ended;
    if (count < 4)
        return 2;
    signal(SIGPIPE, SIG_IGN);
    int log = open(args[1], O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0644);
    long iterations = atol(args[2]);
    need(log >= 0, args[1]);
    clock_gettime(CLOCK_MONOTONIC, &began);
    for (long done = 0; done < iterations; done++)
        iteration(log, args + 3);
    clock_gettime(CLOCK_MONOTONIC, &ended);
    printf("%.9f\n", ((ended.tv_sec - began.tv_sec) + (ended.tv_nsec - began.tv_nsec) / 1e9) / iterations);
    return 0;
}
