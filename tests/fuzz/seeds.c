/* Splits recorded streams into one file a message: fuzz_seeds DIRECTORY STREAM… */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { FRAME_SIZE_MAX = 1 << 20 };

static unsigned char frame[FRAME_SIZE_MAX];

static size_t read_frame(FILE *in)
{
    unsigned char head[4];

    if (fread(head, 1, sizeof(head), in) != sizeof(head)) {
        return 0;
    }
    size_t size = (size_t)head[0] << 24 | (size_t)head[1] << 16 | (size_t)head[2] << 8 | head[3];
    return size <= FRAME_SIZE_MAX ? fread(frame, 1, size, in) : 0;
}

static void write_seed(const char *directory, int number, size_t size)
{
    char path[4096];

    snprintf(path, sizeof(path), "%s/%05d", directory, number);
    FILE *out = fopen(path, "wb");
    if (out == NULL || fwrite(frame, 1, size, out) != size || fclose(out) != 0) {
        perror(path);
        exit(1);
    }
}

int main(int argc, char **argv)
{
    int number = 0;

    for (int i = 2; i < argc; i++) {
        FILE *in = fopen(argv[i], "rb");
        size_t size;

        if (in == NULL) {
            perror(argv[i]);
            return 1;
        }
        while ((size = read_frame(in)) > 0) {
            write_seed(argv[1], number++, size);
        }
        fclose(in);
    }
    printf("%d seeds\n", number);
    return number > 0 ? 0 : 1;
}
